//! How attention is cut: runs of rows of its result, a row being one token's head.
//!
//! With many tokens a unit is all heads of several of them, so that a block of one head's keys serves every token. With few
//! tokens it is a run of one token's heads, as long as there is work for all threads: the keys of neighbouring heads are
//! neighbours in memory, and long runs of memory are read faster than short ones. Heads that share a key head stay in one
//! unit unless threads would have nothing to do.

use super::attention::ROWS;
use crate::contract::Attention;

/// Units for each thread, so that a thread that was held up does not hold up the others: with many tokens and with few.
const MANY: usize = 4;
const FEW: usize = 2;

/// Units of the same size, but that the last may have fewer tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    rows: usize,
    /// Query heads of one key head within a unit.
    group: usize,
    /// Heads of each token within a unit.
    heads: usize,
}

impl Cut {
    pub(super) fn new(job: &Attention<'_>, threads: usize) -> Cut {
        let (tokens, group) = (job.positions.len(), job.heads / job.kv_heads);
        let together = (tokens / (MANY * threads)).min(ROWS / group);
        if together > 0 {
            return Cut { rows: together * job.heads, group, heads: job.heads };
        }
        let share = (tokens * job.heads).div_ceil(FEW * threads);
        let heads = if tokens * job.kv_heads >= threads {
            group * largest_divisor(job.kv_heads, share / group)
        } else {
            largest_divisor(group, share)
        };
        Cut { rows: heads, group: group.min(heads), heads }
    }

    /// Rows of a unit.
    pub(super) fn rows(self) -> usize {
        self.rows
    }

    /// Where in its unit, of `count` rows, row `i` lies when rows that read one key head come next to each other.
    pub(super) fn by_kv_head(self, i: usize, count: usize) -> usize {
        let of_kv_head = count / self.heads * self.group;
        let (kv_head, rest) = (i / of_kv_head, i % of_kv_head);
        rest / self.group * self.heads + kv_head * self.group + rest % self.group
    }
}

/// The largest divisor of `number` that is at most `bound`; 1 if that is 0.
fn largest_divisor(number: usize, bound: usize) -> usize {
    (1..=number.min(bound)).rev().find(|&divisor| number.is_multiple_of(divisor)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;

    fn unit_rows(tokens: usize, heads: usize, kv_heads: usize, threads: usize) -> usize {
        let none = Span { start: 0, len: 0 };
        let positions = vec![0; tokens];
        let job = Attention {
            dst: none,
            q: none,
            k: none,
            v: none,
            heads,
            kv_heads,
            head_dim: 1,
            value_dim: 1,
            positions: &positions,
            scale: 1.0,
            window: None,
            softcap: None,
            kv_capacity: 1,
        };
        Cut::new(&job, threads).rows()
    }

    #[test]
    fn rows_of_a_unit() {
        for (tokens, heads, kv_heads, threads, rows) in [
            (1, 16, 16, 2, 4),         // a quarter of the heads
            (1, 16, 2, 2, 8),          // a key head each, not half of one twice
            (1, 16, 2, 8, 1),          // fewer key heads than threads: groups are split
            (1, 40, 2, 2, 20),         // any group
            (1, 12, 12, 5, 2),         // 2 of 12, for a share of 1.2 rounds up
            (3, 16, 16, 2, 8),         // few tokens: half of each
            (256, 16, 16, 2, 32 * 16), // as many tokens as leave four units a thread
            (4096, 16, 2, 2, 8 * 16),  // as many tokens as go through the blocks together
            (4096, 128, 1, 2, 128),    // more heads in a group than go together: all of one token
        ] {
            assert_eq!(unit_rows(tokens, heads, kv_heads, threads), rows, "{tokens} x {heads}/{kv_heads}");
        }
    }

    #[test]
    fn rows_of_one_key_head_come_next_to_each_other() {
        // Two tokens of four heads over two key heads: 0 1 | 2 3 and 4 5 | 6 7.
        let cut = Cut { rows: 8, group: 2, heads: 4 };
        let order: Vec<_> = (0..8).map(|i| cut.by_kv_head(i, 8)).collect();
        assert_eq!(order, [0, 1, 4, 5, 2, 3, 6, 7]);
        // The last unit may have one token.
        let order: Vec<_> = (0..4).map(|i| cut.by_kv_head(i, 4)).collect();
        assert_eq!(order, [0, 1, 2, 3]);
        // A run of a token's heads keeps its order.
        let cut = Cut { rows: 4, group: 1, heads: 4 };
        let order: Vec<_> = (0..4).map(|i| cut.by_kv_head(i, 4)).collect();
        assert_eq!(order, [0, 1, 2, 3]);
    }
}
