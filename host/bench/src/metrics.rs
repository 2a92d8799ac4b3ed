//! Reads what the host's metrics say of its process.

use reqwest::Client;

/// The process of the host at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostProcess {
    /// Its processor time so far, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Its resident memory, in bytes.
    pub resident_bytes: Option<f64>,
}

/// Reads the metrics page. One that cannot be read says nothing.
pub async fn read(client: &Client, url: Option<&str>) -> HostProcess {
    let Some(url) = url else {
        return HostProcess::default();
    };
    let page = async { client.get(url).send().await?.text().await };
    page.await
        .map_or_else(|_| HostProcess::default(), |page| parse(&page))
}

fn parse(page: &str) -> HostProcess {
    let sample = |name: &str| {
        let line = page
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse().ok())
    };
    HostProcess {
        cpu_seconds: sample("process_cpu_seconds_total"),
        resident_bytes: sample("process_resident_memory_bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_of_the_process_are_read_and_others_are_not() {
        let page = "# TYPE process_cpu_seconds counter\nprocess_cpu_seconds_total 12.5\n\
                    process_resident_memory_bytes 1048576\nprocess_cpu_seconds_total_other 1\n";
        let process = parse(page);
        assert_eq!(process.cpu_seconds, Some(12.5));
        assert_eq!(process.resident_bytes, Some(1_048_576.0));
        assert_eq!(parse(""), HostProcess::default());
    }
}
