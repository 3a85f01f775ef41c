//! The documentation page is what the table says. `GOLDEN=update` writes it anew.

use std::{fs, path::Path};

#[test]
fn the_documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let page = settings::page::markdown();
    if std::env::var("GOLDEN").is_ok_and(|word| word == "update") {
        fs::create_dir_all(path.parent().expect("a folder")).expect("docs/ can be made");
        fs::write(&path, &page).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/settings.md is out of date; run `GOLDEN=update cargo test -p settings`");
}
