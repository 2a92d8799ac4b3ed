use super::*;
use crate::test_log::Log;

#[test]
fn each_new_reason_of_a_data_folder_is_logged_once() {
    let place = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(place.path()).unwrap();
    let log = Log::default();
    let set = |problem: Option<&str>| log.lines(|| folder.set_problem(problem.map(str::to_owned)));
    assert!(set(None).is_empty());
    for reason in ["its disk does not answer", "it was moved"] {
        let line = format!("ERROR the data folder cannot be used problem=\"{reason}\"");
        assert_eq!(set(Some(reason)), [line]);
        assert!(set(Some(reason)).is_empty());
        assert_eq!(folder.problem().as_deref(), Some(reason));
    }
    assert_eq!(set(None), ["INFO the data folder can be used again"]);
    assert_eq!(folder.problem(), None);
}
