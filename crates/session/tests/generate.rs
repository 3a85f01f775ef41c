//! Answers: what is reused, what ends them, what a seed decides, and where the time goes.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use session::{Answer, Event, Finish, Options, Request, Sampling, Session};
use support::{continue_greedily, greedy, open, options, with_experts};

fn answer(session: &mut Session, request: &Request) -> Answer {
    session.generate(request, &AtomicBool::new(false), &mut |_| {}).expect("an answer")
}

#[test]
fn a_common_beginning_is_not_computed_again() {
    let fixture = with_experts();
    let prompts: [Vec<u32>; 4] =
        [vec![5, 6, 7, 8], vec![5, 6, 7, 8, 9, 10, 11], vec![5, 6, 40], vec![5, 6, 40]];
    let reused = [0, 4, 2, 2];
    let mut warm = open(&fixture.checkpoint, &options());
    for (prompt, expected) in prompts.iter().zip(reused) {
        let found = answer(&mut warm, &greedy(prompt, 6));
        let cold = answer(&mut open(&fixture.checkpoint, &options()), &greedy(prompt, 6));
        assert_eq!(found.token_ids, cold.token_ids, "{prompt:?}");
        assert_eq!(cold.stats.reused_tokens, 0);
        // The answer to the first prompt may by chance begin like the second prompt goes on.
        assert!(found.stats.reused_tokens >= expected, "{prompt:?}: {}", found.stats.reused_tokens);
        assert_eq!(found.stats.prefill_tokens + found.stats.reused_tokens, prompt.len());
    }
}

#[test]
fn a_seed_decides_the_answer() {
    let mut session = open(&with_experts().checkpoint, &options());
    let mut drawn = |seed| {
        session.reset();
        let sampling = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, seed };
        answer(&mut session, &Request { sampling, ..greedy(&[3, 4, 5], 12) }).token_ids
    };
    let first = drawn(1);
    assert_eq!(first, drawn(1));
    assert_ne!(first, drawn(2));
}

#[test]
fn lengths_and_cancelling_end_an_answer() {
    let mut session = open(&with_experts().checkpoint, &options());
    let one = answer(&mut session, &greedy(&[3, 4], 1));
    assert_eq!((one.token_ids.len(), one.finish), (1, Finish::Length));
    let none = answer(&mut session, &greedy(&[3, 4], 0));
    assert_eq!((none.token_ids.len(), none.finish), (0, Finish::Length));
    let cancel = AtomicBool::new(false);
    let mut seen = 0;
    let cut = session.generate(&greedy(&[3, 4], 50), &cancel, &mut |event| {
        seen += usize::from(matches!(event, Event::Token { .. }));
        cancel.store(seen == 3, Ordering::Relaxed);
    });
    let cut = cut.expect("a cancelled answer is an answer");
    assert_eq!((cut.token_ids.len(), cut.finish), (3, Finish::Cancelled));
    let early =
        session.generate(&greedy(&[9, 9, 9], 50), &AtomicBool::new(true), &mut |_| {}).expect("an answer");
    assert_eq!((early.token_ids.len(), early.finish), (0, Finish::Cancelled));
    assert_eq!(continue_greedily(&mut session, &[3, 4], 3), cut.token_ids, "the session is as good as new");
}

#[test]
fn figures_add_up() {
    let fixture = with_experts();
    let tight = Options { cache_experts: Some(3), prefill_chunk: Some(4), ..options() };
    let mut session = open(&fixture.checkpoint, &tight);
    let stats = answer(&mut session, &greedy(&[1, 2, 3, 4, 5, 6, 7, 8, 9], 8)).stats;
    assert_eq!((stats.prefill_tokens, stats.decode_tokens), (9, 7));
    assert_eq!(stats.expert_requests, stats.expert_hits + stats.expert_misses);
    assert!(
        stats.expert_misses > 0 && stats.disk_read_bytes > 0,
        "three places cannot hold what is asked for"
    );
    assert!(stats.peak_rss_bytes > 0 && stats.ram_limit_bytes == 2_000_000_000);
    let wall: u64 = ((stats.ttft_s + stats.decode_s) * 1e6) as u64;
    let phases: u64 = stats.phases_us.values().sum();
    assert!(phases.abs_diff(wall) <= wall / 10 + 1000, "{phases} of {wall} us: {:?}", stats.phases_us);
}

#[test]
fn each_expert_of_a_layer_is_read_once_for_a_pass() {
    let fixture = with_experts();
    let roomy = Options { prefill_chunk: Some(16), ..options() };
    let mut session = open(&fixture.checkpoint, &roomy);
    let count = session.plan().experts.as_ref().expect("experts").count as u64;
    let stats = answer(&mut session, &greedy(&(10..26).collect::<Vec<_>>(), 1)).stats;
    assert!(stats.expert_misses <= count, "{} reads of {count} experts in one pass", stats.expert_misses);
    assert_eq!(stats.expert_hits, 0, "in one pass nothing is asked for twice");
}
