//! Strongly connected components of a graph.

/// Components of more than one node, each in ascending order. Takes `n` searches, which is fast
/// enough for the files of a crate.
pub(super) fn strongly_connected(n: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); n];
    for &(from, to) in edges {
        next[from].push(to);
    }
    let reached: Vec<Vec<bool>> = (0..n).map(|start| reached_from(start, &next)).collect();
    let component = |node: usize| (0..n).filter(|&other| other == node || (reached[node][other] && reached[other][node])).collect();
    let components = (0..n).map(component);
    components
        .enumerate()
        .filter(|(node, component): &(usize, Vec<usize>)| component.len() > 1 && component[0] == *node)
        .map(|(_, component)| component)
        .collect()
}

fn reached_from(start: usize, next: &[Vec<usize>]) -> Vec<bool> {
    let mut reached = vec![false; next.len()];
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for &to in &next[node] {
            if !reached[to] {
                reached[to] = true;
                open.push(to);
            }
        }
    }
    reached
}
