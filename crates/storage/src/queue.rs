//! Requests that wait for their turn: demanded before predicted, each in order.

use std::collections::VecDeque;

use crate::{Priority, Request};

/// Requests that room is made for at the start; more are taken, at the price of an allocation.
pub(crate) const REQUESTS: usize = 256;

/// Waiting requests.
#[derive(Debug)]
pub(crate) struct Queue {
    demanded: VecDeque<Request>,
    predicted: VecDeque<Request>,
}

impl Queue {
    pub(crate) fn new() -> Queue {
        Queue { demanded: VecDeque::with_capacity(REQUESTS), predicted: VecDeque::with_capacity(REQUESTS) }
    }

    pub(crate) fn push(&mut self, request: Request) {
        self.of(request.priority).push_back(request);
    }

    /// The oldest request of this priority.
    pub(crate) fn pop(&mut self, priority: Priority) -> Option<Request> {
        self.of(priority).pop_front()
    }

    /// The most urgent request.
    pub(crate) fn pop_any(&mut self) -> Option<Request> {
        self.pop(Priority::Demand).or_else(|| self.pop(Priority::Predicted))
    }

    /// Makes the predicted request with this token a demanded one; `false` if none is waiting.
    pub(crate) fn promote(&mut self, token: u64) -> bool {
        let at = self.predicted.iter().position(|request| request.token == token);
        let Some(mut request) = at.and_then(|at| self.predicted.remove(at)) else { return false };
        request.priority = Priority::Demand;
        self.demanded.push_back(request);
        true
    }

    fn of(&mut self, priority: Priority) -> &mut VecDeque<Request> {
        match priority {
            Priority::Demand => &mut self.demanded,
            Priority::Predicted => &mut self.predicted,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use units::Arena;

    use super::*;

    #[test]
    fn demand_overtakes_prediction() {
        let mut queue = Queue::new();
        let mut arena = Arena::new(5 * 4096);
        for (token, priority) in [
            (1, Priority::Predicted),
            (2, Priority::Predicted),
            (3, Priority::Demand),
            (4, Priority::Predicted),
            (5, Priority::Demand),
        ] {
            let block = arena.cut(1).expect("a page");
            queue.push(Request { token, extents: Arc::new([]), block, priority });
        }
        assert!(queue.promote(4) && !queue.promote(4) && !queue.promote(3) && !queue.promote(9));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_any()).map(|r| (r.token, r.priority)).collect();
        let (demand, predicted) = (Priority::Demand, Priority::Predicted);
        assert_eq!(order, [(3, demand), (5, demand), (4, demand), (1, predicted), (2, predicted)]);
    }
}
