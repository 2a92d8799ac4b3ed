//! The tree of calls of a profile, with the fuel of each.

use std::collections::BTreeMap;

/// A function of a component's core modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Function {
    /// A function by the number of its module, and its number in the module's index space.
    Defined {
        /// The module's number in the component.
        module: u32,
        /// The function's number.
        index: u32,
    },
    /// The outer calls of a stack that is deeper than a profile looks.
    OuterCalls,
    /// Code of the engine's that fills the memory and the globals of a module.
    Initialization,
}

/// A function that was called along one path.
pub(super) struct Node {
    /// The caller. The root alone has none.
    pub(super) parent: usize,
    pub(super) function: Function,
    /// Fuel between its own instructions, in units.
    pub(super) self_fuel: u64,
    pub(super) calls: u64,
}

/// The calls of all rows so far.
pub(super) struct CallTree {
    /// Callers stand before their callees.
    pub(super) nodes: Vec<Node>,
    children: BTreeMap<(usize, Function), usize>,
    /// The node that spends at present.
    current: usize,
    /// Fuel that the row had left at the last report.
    left: u64,
}

/// The place of the host in [`CallTree::nodes`], which calls a release.
pub(super) const HOST: usize = 0;

impl CallTree {
    pub(super) fn new() -> CallTree {
        CallTree {
            nodes: vec![Node {
                parent: HOST,
                function: Function::Initialization,
                self_fuel: 0,
                calls: 0,
            }],
            children: BTreeMap::new(),
            current: HOST,
            left: 0,
        }
    }

    /// Begins a row with this fuel.
    pub(super) fn begin(&mut self, fuel: u64) {
        (self.current, self.left) = (HOST, fuel);
    }

    /// Charges the fuel since the last report to the function that ran since then.
    pub(super) fn charge(&mut self, left: u64) {
        self.nodes[self.current].self_fuel += self.left.saturating_sub(left);
        self.left = left;
    }

    /// Notes that the innermost function of `stack` runs from now on. The outermost one is first.
    pub(super) fn run(&mut self, stack: &[Function], is_new_call: bool) {
        let mut at = HOST;
        for &function in stack {
            let next = self.nodes.len();
            let child = *self.children.entry((at, function)).or_insert(next);
            if child == next {
                self.nodes.push(Node {
                    parent: at,
                    function,
                    self_fuel: 0,
                    calls: 0,
                });
            }
            at = child;
        }
        self.nodes[at].calls += u64::from(is_new_call);
        self.current = at;
    }
}
