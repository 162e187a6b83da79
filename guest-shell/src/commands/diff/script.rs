//! Differences between two sequences of lines: a shortest script of insertions and
//! deletions, after E. Myers, "An O(ND) Difference Algorithm and Its Variations",
//! in its form that searches from both ends and needs linear space.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// A run of lines of one file that stands in the place of a run of the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// First line, from 0, and number of lines that are deleted.
    pub(super) old: (usize, usize),
    /// First line, from 0, and number of lines that are inserted.
    pub(super) new: (usize, usize),
}

/// Steps after which a script need no longer be the shortest.
const PATIENCE: usize = 512;

struct Search<'a> {
    old: &'a [u32],
    new: &'a [u32],
    /// Furthest points on each diagonal, from the front and from the back.
    front: Vec<isize>,
    back: Vec<isize>,
    deleted: Vec<bool>,
    inserted: Vec<bool>,
}

/// Returns the changes between two sequences of which equal lines have equal numbers.
pub(super) fn changes(old: &[u32], new: &[u32]) -> Vec<Change> {
    let diagonals = old.len() + new.len() + 3;
    let mut search = Search {
        old,
        new,
        front: vec![0; diagonals],
        back: vec![0; diagonals],
        deleted: vec![false; old.len()],
        inserted: vec![false; new.len()],
    };
    let mut open = vec![(0, old.len(), 0, new.len())];
    while let Some(range) = open.pop() {
        search.divide(range, &mut open);
    }
    let (mut deleted, mut inserted) = (search.deleted, search.inserted);
    slide(old, &mut deleted, &inserted);
    slide(new, &mut inserted, &deleted);
    collect(&deleted, &inserted)
}

type Range = (usize, usize, usize, usize);

impl Search<'_> {
    /// Marks what differs for certain, and leaves the two parts of the rest.
    fn divide(&mut self, (mut x0, mut x1, mut y0, mut y1): Range, open: &mut Vec<Range>) {
        while x0 < x1 && y0 < y1 && self.old[x0] == self.new[y0] {
            (x0, y0) = (x0 + 1, y0 + 1);
        }
        while x0 < x1 && y0 < y1 && self.old[x1 - 1] == self.new[y1 - 1] {
            (x1, y1) = (x1 - 1, y1 - 1);
        }
        if x0 == x1 || y0 == y1 {
            self.deleted[x0..x1].fill(true);
            self.inserted[y0..y1].fill(true);
            return;
        }
        let (x, y) = self.middle(x0, x1, y0, y1);
        open.push((x, x1, y, y1));
        open.push((x0, x, y0, y));
    }

    /// A point in the middle of a shortest path through a part.
    fn middle(&mut self, x0: usize, x1: usize, y0: usize, y1: usize) -> (usize, usize) {
        let signed = |value: usize| isize::try_from(value).unwrap_or(isize::MAX);
        let (left, right, top, bottom) = (signed(x0), signed(x1), signed(y0), signed(y1));
        // Diagonals are numbered x - y; the vectors begin where the lowest one can be.
        let shift = signed(self.new.len()) + 1;
        let index = |diagonal: isize| usize::try_from(diagonal + shift).unwrap_or(0);
        let (lowest, highest) = (left - bottom, right - top);
        let (first, last) = (left - top, right - bottom);
        let odd = (first - last) % 2 != 0;
        let (mut front, mut back) = ((first, first), (last, last));
        self.front[index(first)] = left;
        self.back[index(last)] = right;
        for step in 1.. {
            // One edit more from the front.
            front = self.widen(front, (lowest, highest), true, &index);
            let mut diagonal = front.1;
            while diagonal >= front.0 {
                let (below, above) = (self.front[index(diagonal - 1)], self.front[index(diagonal + 1)]);
                let mut x = above.max(below + 1);
                while x < right && x - diagonal < bottom && self.same(x, x - diagonal) {
                    x += 1;
                }
                self.front[index(diagonal)] = x;
                if odd && (back.0..=back.1).contains(&diagonal) && self.back[index(diagonal)] <= x {
                    return point(x, diagonal);
                }
                diagonal -= 2;
            }
            // And from the back.
            back = self.widen(back, (lowest, highest), false, &index);
            let mut diagonal = back.1;
            while diagonal >= back.0 {
                let (below, above) = (self.back[index(diagonal - 1)], self.back[index(diagonal + 1)]);
                let mut x = below.min(above - 1);
                while left < x && top < x - diagonal && self.same(x - 1, x - diagonal - 1) {
                    x -= 1;
                }
                self.back[index(diagonal)] = x;
                if !odd && (front.0..=front.1).contains(&diagonal) && x <= self.front[index(diagonal)] {
                    return point(x, diagonal);
                }
                diagonal -= 2;
            }
            if step >= PATIENCE {
                break;
            }
        }
        // The point that is furthest from the front, within the part.
        let within = |diagonal: &isize| {
            let x = self.front[index(*diagonal)];
            x <= right && x - diagonal <= bottom && x > left
        };
        let best = (front.0..=front.1)
            .step_by(2)
            .filter(within)
            .max_by_key(|diagonal| 2 * self.front[index(*diagonal)] - diagonal);
        best.map_or((x1, y1), |diagonal| point(self.front[index(diagonal)], diagonal))
    }

    fn same(&self, x: isize, y: isize) -> bool {
        let line = |lines: &[u32], at: isize| usize::try_from(at).ok().and_then(|at| lines.get(at).copied());
        line(self.old, x) == line(self.new, y)
    }

    /// The diagonals of the next step, with unreachable ones beside those that are new.
    fn widen(
        &mut self,
        (low, high): (isize, isize),
        (lowest, highest): (isize, isize),
        forwards: bool,
        index: &impl Fn(isize) -> usize,
    ) -> (isize, isize) {
        let (points, unreachable) = match forwards {
            true => (&mut self.front, -1),
            false => (&mut self.back, isize::MAX / 2),
        };
        let low = if low > lowest {
            points[index(low - 2)] = unreachable;
            low - 1
        } else {
            low + 1
        };
        let high = if high < highest {
            points[index(high + 2)] = unreachable;
            high + 1
        } else {
            high - 1
        };
        (low, high)
    }
}

fn point(x: isize, diagonal: isize) -> (usize, usize) {
    (usize::try_from(x).unwrap_or(0), usize::try_from(x - diagonal).unwrap_or(0))
}

/// Moves runs of changed lines that could as well stand elsewhere: as far back as
/// they merge with others, then as far on as they go, and back to the last place
/// where the other file is changed, too.
fn slide(lines: &[u32], changed: &mut [bool], other: &[bool]) {
    // Of the other file: whether lines are changed behind so many unchanged ones.
    let mut gaps = vec![false];
    for mark in other {
        match mark {
            true => *gaps.last_mut().expect("it begins with one") = true,
            false => gaps.push(false),
        }
    }
    let gap = |unchanged: usize| gaps.get(unchanged).copied().unwrap_or(false);
    let (mut at, mut unchanged) = (0, 0);
    loop {
        while at < lines.len() && !changed[at] {
            (at, unchanged) = (at + 1, unchanged + 1);
        }
        if at >= lines.len() {
            return;
        }
        let mut start = at;
        at += changed[at..].iter().take_while(|mark| **mark).count();
        let mut aligned;
        loop {
            let length = at - start;
            while start > 0 && lines[start - 1] == lines[at - 1] {
                (start, at, unchanged) = (start - 1, at - 1, unchanged - 1);
                changed.swap(start, at);
                start -= changed[..start].iter().rev().take_while(|mark| **mark).count();
            }
            aligned = if gap(unchanged) { at } else { usize::MAX };
            while at < lines.len() && lines[start] == lines[at] {
                changed.swap(start, at);
                (start, at, unchanged) = (start + 1, at + 1, unchanged + 1);
                at += changed[at..].iter().take_while(|mark| **mark).count();
                if gap(unchanged) {
                    aligned = at;
                }
            }
            if at - start == length {
                break;
            }
        }
        while aligned < at {
            (start, at, unchanged) = (start - 1, at - 1, unchanged - 1);
            changed.swap(start, at);
        }
    }
}

fn collect(deleted: &[bool], inserted: &[bool]) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut x, mut y) = (0, 0);
    while x < deleted.len() || y < inserted.len() {
        let old = deleted[x..].iter().take_while(|mark| **mark).count();
        let new = inserted[y..].iter().take_while(|mark| **mark).count();
        if old + new > 0 {
            changes.push(Change { old: (x, old), new: (y, new) });
        }
        (x, y) = (x + old + 1, y + new + 1);
        if x > deleted.len() || y > inserted.len() {
            break;
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::{Change, changes};

    #[test]
    fn changes_are_the_shortest_script() {
        let change = |x, deleted, y, inserted| Change { old: (x, deleted), new: (y, inserted) };
        assert_eq!(changes(&[1, 2, 3], &[1, 2, 3]), []);
        assert_eq!(changes(&[1, 2, 3, 4], &[1, 9, 3, 4, 5]), [change(1, 1, 1, 1), change(4, 0, 4, 1)]);
        assert_eq!(changes(&[], &[1, 2]), [change(0, 0, 0, 2)]);
        assert_eq!(changes(&[1, 2], &[]), [change(0, 2, 0, 0)]);
        // Of two equal lines, the later one is the inserted one.
        assert_eq!(changes(&[1, 2], &[1, 1, 2]), [change(1, 0, 1, 1)]);
    }
}
