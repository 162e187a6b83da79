//! Descriptors that one process hands to another over a local socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

/// Length of the space for the descriptors of a message: at most two.
const SPACE: usize = rustix::cmsg_space!(ScmRights(2));

/// Sends a message of these descriptors, at most two.
pub(super) fn send(socket: impl AsFd, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("a message has at most two descriptors"));
    }
    // They come with a byte, or not at all.
    sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::empty())?;
    Ok(())
}

/// Receives a message of `N` descriptors; `None` once the other side is closed.
pub(super) fn receive<const N: usize>(socket: impl AsFd) -> io::Result<Option<[OwnedFd; N]>> {
    let (mut space, mut byte) = ([MaybeUninit::uninit(); SPACE], [0]);
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty())?;
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(handed) = message {
            descriptors.extend(handed);
        }
    }
    if received.bytes == 0 {
        return Ok(None);
    }
    for descriptor in &descriptors {
        fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
    }
    let count = descriptors.len();
    let exact = <[OwnedFd; N]>::try_from(descriptors);
    exact.map(Some).map_err(|_| io::Error::other(format!("a message has {count} descriptors instead of {N}")))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn descriptors_handed_over_are_the_same_connections() {
        let (here, there) = UnixStream::pair().expect("a pair");
        let (mut near, far) = UnixStream::pair().expect("a pair");
        send(&here, &[far.as_fd()]).expect("there is room");
        send(&here, &[far.as_fd(), near.as_fd()]).expect("there is room");
        drop((here, far));
        let [handed] = receive::<1>(&there).expect("it was sent").expect("it is the first");
        near.write_all(b"hi").expect("the other end is open");
        let mut read = [0; 2];
        UnixStream::from(handed).read_exact(&mut read).expect("it was written");
        assert_eq!(&read, b"hi");
        receive::<1>(&there).map(drop).expect_err("there are two");
        assert!(receive::<1>(&there).expect("it is the end").is_none());
    }
}
