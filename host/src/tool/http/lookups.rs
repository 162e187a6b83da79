//! Name look-ups of a session that are in progress.
//!
//! A look-up that a name server does not answer continues for a while after its request was given up: nothing can stop
//! the system's resolver. So look-ups are counted until they have ended, not until their request stops waiting.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::Semaphore;

use super::network::Network;

/// Most concurrent look-ups of one session.
const MAX_LOOKUPS: usize = 16;

/// Look-ups of one session, and of the sessions forked from it. Clones share them.
#[derive(Clone)]
pub(crate) struct NameLookups(Arc<Semaphore>);

impl Default for NameLookups {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_LOOKUPS)))
    }
}

impl NameLookups {
    /// Resolves a name, once fewer look-ups than the limit are in progress.
    ///
    /// # Errors
    /// If the name has no address, or cannot be resolved.
    pub(super) async fn resolve(&self, network: &Network, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.0).acquire_owned().await.map_err(io::Error::other)?;
        let (network, host) = (network.clone(), host.to_owned());
        let lookup = tokio::spawn(async move {
            let found = network.resolve(&host).await;
            drop(permit);
            found
        });
        lookup.await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use tokio::sync::Notify;
    use tokio::time::timeout;

    use super::super::network::Resolver;
    use super::*;

    /// Name server that does not answer until it is told to.
    #[derive(Default)]
    struct SilentResolver {
        asked: AtomicUsize,
        answer: Notify,
    }

    #[async_trait::async_trait]
    impl Resolver for Arc<SilentResolver> {
        async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.answer.notified().await;
            Ok(vec![Ipv4Addr::LOCALHOST.into()])
        }
    }

    #[test]
    fn lookups_that_are_given_up_count_until_they_end() {
        wasmtime_wasi::runtime::in_tokio(async {
            let silent = Arc::new(SilentResolver::default());
            let network = Network::default().with_resolver(Arc::new(Arc::clone(&silent)));
            let lookups = NameLookups::default();
            for _ in 0..2 * MAX_LOOKUPS {
                let given_up = timeout(Duration::from_millis(5), lookups.resolve(&network, "slow.example")).await;
                assert!(given_up.is_err());
            }
            assert_eq!(silent.asked.load(Ordering::Relaxed), MAX_LOOKUPS);
            let other = NameLookups::default();
            assert!(timeout(Duration::from_millis(5), other.resolve(&network, "slow.example")).await.is_err());
            assert_eq!(silent.asked.load(Ordering::Relaxed), MAX_LOOKUPS + 1, "another session has its own");
            let answering = tokio::spawn(async move {
                loop {
                    silent.answer.notify_waiters();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            });
            let found = lookups.resolve(&network, "quick.example").await;
            answering.abort();
            assert_eq!(found.expect("it answers"), [IpAddr::from(Ipv4Addr::LOCALHOST)]);
        });
    }
}
