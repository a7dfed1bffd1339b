//! The smallest set of nodes of a graph through which every path from its sources to its sinks
//! leads.

use std::collections::VecDeque;

/// A graph without circles.
pub(super) struct Graph {
    /// For each node, the nodes that it reads.
    pub operands: Vec<Vec<usize>>,
}

/// A capacity that no sum of others reaches.
const UNBOUNDED: u32 = u32::MAX / 2;

/// Edges in pairs: that of number `e` and its reverse `e ^ 1`.
struct Flow {
    /// Targets of edges, and their residual capacities.
    edges: Vec<(usize, u32)>,
    /// The edges that begin at each vertex.
    from: Vec<Vec<usize>>,
}

impl Flow {
    fn connect(&mut self, a: usize, b: usize, capacity: u32) {
        for (from, to, capacity) in [(a, b, capacity), (b, a, 0)] {
            self.from[from].push(self.edges.len());
            self.edges.push((to, capacity));
        }
    }

    /// For each vertex the edge by which a shortest path from `start` reaches it.
    fn reached(&self, start: usize) -> Vec<Option<usize>> {
        let mut by = vec![None; self.from.len()];
        let mut open = VecDeque::from([start]);
        while let Some(vertex) = open.pop_front() {
            for &edge in &self.from[vertex] {
                let (to, capacity) = self.edges[edge];
                if capacity > 0 && to != start && by[to].is_none() {
                    by[to] = Some(edge);
                    open.push_back(to);
                }
            }
        }
        by
    }

    /// Sends what fits through one path. `None` if there is no path, else whether it is bounded.
    fn augment(&mut self, source: usize, sink: usize) -> Option<bool> {
        let by = self.reached(source);
        let mut path = Vec::new();
        let mut vertex = sink;
        while vertex != source {
            let edge = by[vertex]?;
            path.push(edge);
            vertex = self.edges[edge ^ 1].0;
        }
        let fits = path.iter().map(|&edge| self.edges[edge].1).min()?;
        for edge in path {
            self.edges[edge].1 -= fits;
            self.edges[edge ^ 1].1 += fits;
        }
        Some(fits < UNBOUNDED)
    }

    /// The vertices from which something still fits through to `sink`.
    fn reaching(&self, sink: usize) -> Vec<bool> {
        let mut reaches = vec![false; self.from.len()];
        reaches[sink] = true;
        let mut open = vec![sink];
        while let Some(vertex) = open.pop() {
            for &edge in &self.from[vertex] {
                let before = self.edges[edge].0;
                if self.edges[edge ^ 1].1 > 0 && !std::mem::replace(&mut reaches[before], true) {
                    open.push(before);
                }
            }
        }
        reaches
    }
}

/// The smallest cut, by ascending number; of several the one nearest to the sinks. It has none but
/// nodes of `may_cut`; `None` if those do not part sources and sinks.
pub(super) fn smallest_cut(graph: &Graph, sources: &[usize], sinks: &[usize], may_cut: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
    // A node is two vertices, with an edge of its capacity between them.
    let nodes = graph.operands.len();
    let (enter, leave) = (|node: usize| 2 * node, |node: usize| 2 * node + 1);
    let (source, sink) = (2 * nodes, 2 * nodes + 1);
    let mut flow = Flow { edges: Vec::new(), from: vec![Vec::new(); 2 * nodes + 2] };
    for (node, operands) in graph.operands.iter().enumerate() {
        flow.connect(enter(node), leave(node), if may_cut(node) { 1 } else { UNBOUNDED });
        operands.iter().for_each(|&operand| flow.connect(leave(operand), enter(node), UNBOUNDED));
    }
    sources.iter().for_each(|&node| flow.connect(source, enter(node), UNBOUNDED));
    sinks.iter().for_each(|&node| flow.connect(leave(node), sink, UNBOUNDED));
    while let Some(bounded) = flow.augment(source, sink) {
        if !bounded {
            return None;
        }
    }
    let reaching = flow.reaching(sink);
    Some((0..nodes).filter(|&node| reaching[leave(node)] && !reaching[enter(node)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(operands: &[&[usize]], sources: &[usize], sinks: &[usize], fixed: &[usize]) -> Option<Vec<usize>> {
        let graph = Graph { operands: operands.iter().map(|list| list.to_vec()).collect() };
        smallest_cut(&graph, sources, sinks, |node| !fixed.contains(&node))
    }

    #[test]
    fn one_node_that_all_paths_share_is_enough() {
        // 0 -> 1 -> {2, 3} -> 4: the one cut of one node that is nearest to 4, which is fixed.
        let diamond: &[&[usize]] = &[&[], &[0], &[1], &[1], &[2, 3]];
        assert_eq!(cut(diamond, &[0], &[4], &[4]), Some(vec![1]));
        assert_eq!(cut(diamond, &[0], &[4], &[0, 1, 4]), Some(vec![2, 3]));
    }

    #[test]
    fn the_last_of_cuts_of_one_size_is_taken() {
        let chain: &[&[usize]] = &[&[], &[0], &[1], &[2]];
        assert_eq!(cut(chain, &[0], &[3], &[3]), Some(vec![2]));
        assert_eq!(cut(chain, &[0], &[3], &[2, 3]), Some(vec![1]));
    }

    #[test]
    fn several_sources_and_sinks() {
        // 0 and 1 are read by 2; 1 and 2 by 3, 0 by 4.
        let graph: &[&[usize]] = &[&[], &[], &[0, 1], &[1, 2], &[0]];
        assert_eq!(cut(graph, &[0, 1], &[3, 4], &[3, 4]), Some(vec![0, 1]));
        assert_eq!(cut(graph, &[0], &[3], &[3]), Some(vec![2]));
    }

    #[test]
    fn flow_goes_back_where_a_first_path_was_greedy() {
        // The shortest path 0 -> 1 -> 4 -> 5 takes the middle of two others: 0 -> 1 -> 3 -> 5 and
        // 0 -> 2 -> 4 -> 5.
        let graph: &[&[usize]] = &[&[], &[0], &[0], &[1], &[1, 2], &[3, 4]];
        assert_eq!(cut(graph, &[0], &[5], &[0, 5]), Some(vec![3, 4]));
    }

    #[test]
    fn paths_of_fixed_nodes_cannot_be_cut() {
        let graph: &[&[usize]] = &[&[], &[0], &[0, 1]];
        assert_eq!(cut(graph, &[0], &[2], &[0, 2]), None);
        assert_eq!(cut(graph, &[1], &[2], &[2]), Some(vec![1]));
    }

    #[test]
    fn nothing_is_cut_where_nothing_is_connected() {
        let graph: &[&[usize]] = &[&[], &[]];
        assert_eq!(cut(graph, &[0], &[1], &[]), Some(vec![]));
    }
}
