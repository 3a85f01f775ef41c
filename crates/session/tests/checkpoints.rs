//! Odd but legal checkpoints give the same bits; broken ones are refused with the tensor's name.

mod support;

use std::{fs, path::Path};

use serde_json::json;
use session::{Error, Options, Session};
use support::{edit::Draft, open, options, with_experts};
use tempfile::tempdir;

const EMBED: &str = "model.embed_tokens.weight";
const HEAD: &str = "lm_head.weight";

/// Bits of the last logits after a fixed text.
fn bits(folder: &Path) -> Vec<u32> {
    let mut session = open(folder, &options());
    session.forward(&[5, 9, 200, 3, 77, 150, 31], None).expect("a pass");
    session.logits_of(6).iter().map(|logit| logit.to_bits()).collect()
}

/// The bits of `draft` written to a folder.
fn written(draft: &Draft) -> Vec<u32> {
    let folder = tempdir().expect("a folder");
    draft.write(folder.path());
    bits(folder.path())
}

/// The message with which `draft` is refused.
fn refusal(draft: &Draft) -> String {
    let folder = tempdir().expect("a folder");
    draft.write(folder.path());
    match Session::open(folder.path(), &options(), &mut |_| {}) {
        Ok(_) => panic!("a broken checkpoint was opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn tied_embeddings_have_three_shapes() {
    let mut draft = Draft::read(&with_experts().checkpoint);
    let own_head = written(&draft);
    draft.config["tie_word_embeddings"] = json!(true);
    let redundant = written(&draft);
    draft.tensors.remove(HEAD);
    let absent = written(&draft);
    assert_eq!(absent, redundant, "a redundant head changes nothing");
    assert_ne!(absent, own_head, "the embedding is another matrix than the head");
    draft.tensors.insert(HEAD.to_string(), draft.tensors[EMBED].clone());
    draft.config["tie_word_embeddings"] = json!(false);
    assert_eq!(written(&draft), absent, "a head equal to the embedding gives the tied bits");
    draft.tensors.remove(HEAD);
    assert!(refusal(&draft).contains(HEAD), "an absent head is named");
    draft.tensors.insert(HEAD.to_string(), (safetensors::Dtype::F32, vec![0], Vec::new()));
    assert!(refusal(&draft).contains(HEAD), "a placeholder counts as absent");
}

#[test]
fn equal_ropes_in_any_spelling() {
    let mut draft = Draft::read(&with_experts().checkpoint);
    let config = draft.config.as_object_mut().expect("an object");
    config.remove("rope_parameters");
    config.insert("rope_theta".into(), json!(10000.0));
    config.insert("rope_scaling".into(), json!(null));
    let plain = written(&draft);
    for parameters in [
        json!({ "rope_type": "default", "rope_theta": 10000.0 }),
        json!({ "full_attention": { "rope_type": "default", "rope_theta": 10000.0 } }),
        json!({ "rope_theta": 10000.0 }),
    ] {
        let mut spelled = draft.clone();
        spelled.config["rope_parameters"] = parameters.clone();
        spelled.config["rope_theta"] = json!(null);
        assert_eq!(written(&spelled), plain, "{parameters}");
    }
    let yarn = json!({ "type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8 });
    let mut old = draft.clone();
    old.config["rope_scaling"] = yarn.clone();
    let stretched = written(&old);
    assert_ne!(stretched, plain, "a scaling changes the logits");
    let mut new = draft.clone();
    new.config["rope_parameters"] = yarn;
    assert_eq!(written(&new), stretched, "both spellings of the same scaling");
    draft.config["rope_scaling"] = json!({ "rope_type": "spiral", "factor": 2.0 });
    assert!(refusal(&draft).contains("spiral"), "an unknown scaling is named");
    draft.config["rope_scaling"] = json!(null);
    draft.config["rope_theta"] = json!(null);
    assert!(refusal(&draft).contains("rope_theta"), "a base is never assumed");
}

#[test]
fn the_expert_count_has_three_spellings() {
    let mut draft = Draft::read(&with_experts().checkpoint);
    let expected = written(&draft);
    let config = draft.config.as_object_mut().expect("an object");
    let count = config.remove("num_experts").expect("the usual spelling");
    for key in ["n_routed_experts", "num_local_experts"] {
        let mut spelled = draft.clone();
        spelled.config[key] = count.clone();
        assert_eq!(written(&spelled), expected, "{key}");
    }
}

#[test]
fn shards_may_lie_anywhere() {
    let draft = Draft::read(&with_experts().checkpoint);
    let expected = written(&draft);
    let (disks, folder) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    draft.write_shards(disks.path(), 3);
    assert_eq!(bits(disks.path()), expected, "three shards");
    for entry in fs::read_dir(disks.path()).expect("shards") {
        let path = entry.expect("an entry").path();
        let link = folder.path().join(path.file_name().expect("a name"));
        std::os::unix::fs::symlink(&path, link).expect("a link");
    }
    assert_eq!(bits(folder.path()), expected, "links to three shards");
    let shard = disks.path().join("model-00002-of-00003.safetensors");
    fs::remove_file(&shard).expect("a shard");
    let error = Session::open(folder.path(), &options(), &mut |_| {}).err().expect("a dangling link");
    assert!(error.to_string().contains("model-00002-of-00003.safetensors"), "{error}");
}

#[test]
fn a_misshapen_or_absent_tensor_is_named() {
    let mut draft = Draft::read(&with_experts().checkpoint);
    let name = "model.layers.1.self_attn.k_proj.weight";
    let (dtype, shape, bytes) = draft.tensors[name].clone();
    draft.tensors.insert(name.to_string(), (dtype, vec![shape[0] / 2, shape[1] * 2], bytes));
    let message = refusal(&draft);
    assert!(message.contains(name) && message.contains("layer 1"), "{message}");
    draft.tensors.remove(name);
    let message = refusal(&draft);
    assert!(message.contains(name), "{message}");
    let mut wrong = Draft::read(&with_experts().checkpoint);
    let name = "model.layers.0.mlp.experts.1.up_proj.weight";
    let (_, shape, bytes) = wrong.tensors[name].clone();
    wrong.tensors.insert(name.to_string(), (safetensors::Dtype::I32, shape, bytes));
    let message = refusal(&wrong);
    assert!(message.contains(name) && message.contains("I32"), "{message}");
}

#[test]
fn a_read_only_folder_will_do() {
    let draft = Draft::read(&with_experts().checkpoint);
    let folder = tempdir().expect("a folder");
    draft.write(folder.path());
    let expected = bits(folder.path());
    let listing = || fs::read_dir(folder.path()).expect("a folder").count();
    let before = listing();
    let mut permissions = fs::metadata(folder.path()).expect("metadata").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.path(), permissions).expect("permissions");
    assert_eq!(bits(folder.path()), expected);
    assert_eq!(listing(), before, "nothing is written beside the weights");
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[test]
fn a_ceiling_that_is_too_low_is_refused_with_the_sum() {
    let fixture = with_experts();
    let refused = |ram| {
        let options = Options { ram: Some(ram), ..options() };
        Session::open(&fixture.checkpoint, &options, &mut |_| {}).err()
    };
    let Some(Error::DoesNotFit { needed, ceiling: 1_000_000, arithmetic, .. }) = refused(1_000_000) else {
        panic!("a megabyte cannot hold the program");
    };
    for word in ["program", "dense weights", "state", "scratch", "experts of one layer"] {
        assert!(arithmetic.contains(word), "{arithmetic}");
    }
    // The program's own share is what is resident now and may grow between the two plans.
    assert!(refused(needed + 20_000_000).is_none(), "what was said to be needed suffices");
}

#[test]
fn the_context_is_a_limit() {
    let fixture = with_experts();
    let small = Options { context: Some(8), ..options() };
    let mut session = open(&fixture.checkpoint, &small);
    let prompt: Vec<u32> = (2..10).collect();
    assert_eq!(
        support::continue_greedily(&mut session, &prompt, 5).len(),
        1,
        "a full context has room for one answer token"
    );
    let answer = session.generate(&support::greedy(&[2; 9], 1), &false.into(), &mut |_| {});
    assert!(matches!(answer, Err(Error::ContextFull { found: 9, most: 8, context: 8 })));
    let answer = session.generate(&support::greedy(&[], 1), &false.into(), &mut |_| {});
    assert!(matches!(answer, Err(Error::EmptyPrompt)));
    let answer = session.generate(&support::greedy(&[1, 100_000], 1), &false.into(), &mut |_| {});
    assert!(matches!(answer, Err(Error::Token { found: 100_000, position: 1, .. })));
    let too_much = Options { context: Some(1_000_000), ..options() };
    assert!(matches!(
        Session::open(&fixture.checkpoint, &too_much, &mut |_| {}).err(),
        Some(Error::Context { found: 1_000_000, .. })
    ));
}
