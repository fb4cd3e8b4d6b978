#include "runtime/src/serving/PrefixTree.h"

#include <algorithm>

using namespace effc::rt;

PrefixTree::~PrefixTree() {
  // One by one, children first: chains may be longer than a stack.
  std::vector<Node *> nodes = allNodes();
  for (size_t i = nodes.size(); i-- > 0;)
    nodes[i]->children.clear();
}

/// Parents before their children; the order is that of tokens.
std::vector<PrefixTree::Node *> PrefixTree::allNodes() const {
  std::vector<Node *> nodes;
  for (const auto &[salt, root] : roots)
    nodes.push_back(root.get());
  for (size_t i = 0; i < nodes.size(); ++i)
    for (auto &[token, child] : nodes[i]->children)
      nodes.push_back(child.get());
  return nodes;
}

//===-- Looking -----------------------------------------------------------===//

PrefixTree::Path PrefixTree::pathOf(std::string_view salt,
                                    std::span<const int32_t> tokens) const {
  Path path;
  auto root = roots.find(salt);
  const Node *node = root == roots.end() ? nullptr : root->second.get();
  while (node && path.matched < tokens.size()) {
    auto child = node->children.find(tokens[path.matched]);
    if (child == node->children.end())
      break;
    node = child->second.get();
    std::span<const int32_t> rest = tokens.subspan(path.matched);
    auto end = std::mismatch(node->tokens.begin(), node->tokens.end(),
                             rest.begin(), rest.end());
    path.nodes.push_back(child->second.get());
    path.matched += static_cast<uint64_t>(end.first - node->tokens.begin());
    if (end.first != node->tokens.end())
      break;
  }
  return path;
}

/// The runs of a path that begin before `position`.
std::vector<SharedRows> PrefixTree::rowsUntil(const Path &path,
                                              uint64_t position) const {
  std::vector<SharedRows> rows;
  for (const Node *node : path.nodes)
    for (const SharedRows &run : node->rows)
      if (run->tokens.first < position)
        rows.push_back(run);
  return rows;
}

/// Whether a sequence can go on at `position`, which lies on the edge to node
/// `index` of the path or at its end.
bool PrefixTree::isPlace(const Path &path, size_t index, uint64_t position,
                         std::vector<SharedRows> &rows) const {
  const Node &node = *path.nodes[index];
  if (layout.hasFixed() && (!node.fixed || node.depth != position))
    return false;
  rows = rowsUntil(path, position);
  return layout.covers(rows, position);
}

PrefixMatch PrefixTree::find(std::string_view salt,
                             std::span<const int32_t> tokens, uint64_t most,
                             const Exactness &exactness,
                             bool takesInexact) const {
  Path path = pathOf(salt, tokens);
  PrefixMatch match;
  match.matched = path.matched;
  match.isNewSalt = !roots.empty() && !roots.contains(salt);
  most = std::min<uint64_t>(most, tokens.size());
  uint64_t end = std::min(path.matched, most);
  std::vector<bool> byPrefill; // up to and with each edge
  for (const Node *node : path.nodes)
    byPrefill.push_back(node->byPrefill &&
                        (byPrefill.empty() || byPrefill.back()));
  // From the last position of the last edge backwards; where nothing is fixed also
  // inside of edges, on the grid.
  for (size_t i = path.nodes.size(); i-- > 0 && match.position == 0;) {
    uint64_t last = std::min(path.nodes[i]->depth, end);
    uint64_t grid = exactness.kind == Exactness::Kind::OnGrid && !takesInexact
                        ? exactness.grid
                        : 1;
    uint64_t before = i == 0 ? 0 : path.nodes[i - 1]->depth;
    for (uint64_t at : {last, last - last % grid}) {
      std::vector<SharedRows> rows;
      if (at <= before || !isPlace(path, i, at, rows))
        continue;
      bool isExact =
          exactness.holds(at, byPrefill[i] && (!layout.hasFixed() ||
                                               path.nodes[i]->fixedByPrefill));
      if (!isExact && !takesInexact) {
        match.inexact = std::max(match.inexact, at);
        continue;
      }
      match.position = at;
      match.isExact = isExact;
      match.states.position = at;
      match.states.fixed = path.nodes[i]->fixed;
      match.states.rows = std::move(rows);
      break;
    }
  }
  match.evicted = evicted.longestOf(salt, tokens, most);
  if (match.evicted <= match.position)
    match.evicted = 0;
  return match;
}

void PrefixTree::use(std::string_view salt, std::span<const int32_t> tokens,
                     uint64_t position) {
  Path path = pathOf(salt, tokens.first(position));
  for (Node *node : path.nodes)
    if (!layout.hasFixed() || node == path.nodes.back()) {
      ++node->uses;
      node->clock = clock;
    }
}

//===-- Adding ------------------------------------------------------------===//

/// The first token of the path's edges whose rows do not do for `position`. Edges
/// are replaced as a whole: their rows of a window were left by a sequence that had
/// gone further, and those of `position` are more.
uint64_t PrefixTree::firstRowMissing(const Path &path,
                                     uint64_t position) const {
  if (!layout.hasRows())
    return position;
  if (layout.losesRows())
    for (const Node *node : path.nodes) {
      uint64_t begin = node->depth - node->tokens.size();
      bool isLater = std::any_of(
          node->rows.begin(), node->rows.end(),
          [&](const SharedRows &run) { return run->madeAt > position; });
      if (isLater && !layout.covers(rowsUntil(path, position), position))
        return begin;
    }
  return path.matched;
}

PrefixTree::Gap PrefixTree::gapOf(std::string_view salt,
                                  std::span<const int32_t> tokens) const {
  Path path = pathOf(salt, tokens);
  uint64_t position = tokens.size();
  Gap gap;
  std::vector<SharedRows> rows;
  if (path.matched == position && !path.nodes.empty() &&
      path.nodes.back()->depth == position &&
      isPlace(path, path.nodes.size() - 1, position, rows)) {
    gap.isKept = true;
    return gap;
  }
  gap.firstRow = firstRowMissing(path, position);
  gap.bytes =
      layout.sizeOfFixed() +
      layout.sizeOfRows({gap.firstRow, position - gap.firstRow}, position) +
      (position - path.matched) * sizeof(int32_t) + 2 * kNodeBytes;
  return gap;
}

uint64_t PrefixTree::bytesOf(const std::vector<SharedRows> &rows) {
  uint64_t sum = 0;
  for (const SharedRows &run : rows)
    sum += run->bytes.size;
  return sum;
}

void PrefixTree::giveRows(Node &node, std::vector<SharedRows> rows) {
  total -= bytesOf(node.rows);
  node.rows = std::move(rows);
  total += bytesOf(node.rows);
}

void PrefixTree::giveFixed(Node &node,
                           std::shared_ptr<const CopiedBytes> fixed) {
  total -= node.fixed ? node.fixed->size : 0;
  node.fixed = std::move(fixed);
  total += node.fixed ? node.fixed->size : 0;
}

/// What of `rows` lies before `end` goes from there to the result.
static std::vector<SharedRows> takeUntil(const CopyLayout &layout,
                                         std::vector<SharedRows> &rows,
                                         uint64_t end) {
  std::vector<SharedRows> front, back;
  for (SharedRows &run : rows) {
    if (run->end() <= end) {
      front.push_back(std::move(run));
    } else if (run->tokens.first >= end) {
      back.push_back(std::move(run));
    } else {
      auto [before, behind] = layout.cut(*run, end);
      front.push_back(std::move(before));
      back.push_back(std::move(behind));
    }
  }
  rows = std::move(back);
  return front;
}

/// Puts a node at `depth` into the edge to `node`, and returns it.
PrefixTree::Node *PrefixTree::cutEdge(Node &node, uint64_t depth) {
  uint64_t begin = node.depth - node.tokens.size(), length = depth - begin;
  std::vector<SharedRows> behind = node.rows;
  std::vector<SharedRows> before = takeUntil(layout, behind, depth);
  Node &parent = *node.parent;
  auto middle = std::make_unique<Node>();
  Node *made = middle.get();
  made->parent = &parent;
  auto cut = node.tokens.begin() + static_cast<ptrdiff_t>(length);
  made->tokens.assign(node.tokens.begin(), cut);
  std::vector<int32_t> rest(cut, node.tokens.end());
  made->depth = depth;
  made->hash = parent.hash;
  for (int32_t token : made->tokens)
    made->hash = PrefixHash::next(made->hash, token);
  made->byPrefill = node.byPrefill;
  made->uses = node.uses;
  made->clock = node.clock;
  made->number = ++numbers;
  auto &place = parent.children.at(made->tokens[0]);
  auto &child = made->children[rest[0]];
  // From here on nothing is allocated.
  child = std::move(place);
  place = std::move(middle);
  node.parent = made;
  node.tokens = std::move(rest);
  total += kNodeBytes;
  giveRows(node, std::move(behind));
  giveRows(*made, std::move(before));
  if (!layout.hasFixed())
    makePlace(*made);
  return made;
}

void PrefixTree::makePlace(Node &node) {
  kept += !node.isPlace;
  node.isPlace = true;
}

PrefixTree::Node *PrefixTree::addLeaf(Node &parent,
                                      std::span<const int32_t> tokens) {
  auto leaf = std::make_unique<Node>();
  Node *made = leaf.get();
  made->parent = &parent;
  made->tokens.assign(tokens.begin(), tokens.end());
  made->depth = parent.depth + tokens.size();
  made->hash = parent.hash;
  for (int32_t token : tokens)
    made->hash = PrefixHash::next(made->hash, token);
  made->number = ++numbers;
  parent.children[tokens[0]] = std::move(leaf);
  total += costOf(*made);
  return made;
}

/// What a node takes without its states.
uint64_t PrefixTree::costOf(const Node &node) {
  return kNodeBytes + node.tokens.size() * sizeof(int32_t);
}

void PrefixTree::put(std::string_view salt, std::span<const int32_t> tokens,
                     const CopiedStates &copy, bool byPrefill, uint64_t uses) {
  auto root = roots.find(salt);
  if (root == roots.end()) {
    root = roots.emplace(std::string(salt), std::make_unique<Node>()).first;
    root->second->hash = PrefixHash::begin(salt);
  }
  Node *node = root->second.get();
  try {
    Path path = pathOf(salt, tokens);
    if (!path.nodes.empty())
      node = path.nodes.back();
    if (node->depth > path.matched)
      path.nodes.back() = node = cutEdge(*node, path.matched);
    if (path.matched < tokens.size()) {
      path.nodes.push_back(nullptr);
      path.nodes.back() = node = addLeaf(*node, tokens.subspan(path.matched));
      node->byPrefill = byPrefill;
    }
    std::vector<SharedRows> rows = copy.rows;
    for (Node *each : path.nodes) {
      std::vector<SharedRows> fresh = takeUntil(layout, rows, each->depth);
      if (!fresh.empty())
        giveRows(*each, std::move(fresh));
    }
  } catch (...) {
    prune(node); // a leaf that has got nothing
    throw;
  }
  giveFixed(*node, copy.fixed);
  node->fixedByPrefill = byPrefill;
  makePlace(*node);
  node->uses = std::max(node->uses, uses);
  node->clock = clock;
}

//===-- Giving up ---------------------------------------------------------===//

/// Whether giving up the node's states frees anything.
bool PrefixTree::isCandidate(const Node &node) const {
  return layout.hasFixed() ? node.fixed != nullptr : node.children.empty();
}

uint64_t PrefixTree::freedBy(const Node &node) const {
  uint64_t freed = node.fixed ? node.fixed->size : 0;
  if (node.children.empty())
    freed += bytesOf(node.rows) + costOf(node);
  return freed;
}

/// How much computing a byte of the node saves, on top of the tree's clock when it
/// was used last: what nobody uses is passed by what others are worth.
uint64_t PrefixTree::worthOf(const Node &node) const {
  uint64_t from = node.parent->depth;
  if (layout.hasFixed()) {
    const Node *before = node.parent;
    while (before && !before->fixed)
      before = before->parent;
    from = before ? before->depth : 0;
  }
  auto saved = static_cast<unsigned __int128>(node.depth - from) *
               std::max<uint64_t>(node.uses, 1);
  unsigned __int128 worth =
      (saved << 32) / std::max<uint64_t>(freedBy(node), 1);
  worth = std::min<unsigned __int128>(worth, uint64_t(1) << 48);
  return node.clock + static_cast<uint64_t>(worth);
}

/// Removes a node that is of no use, and those above that are of none without it.
void PrefixTree::prune(Node *node) {
  while (node->parent && node->children.empty() && !node->isPlace) {
    Node *parent = node->parent;
    giveRows(*node, {});
    total -= costOf(*node);
    parent->children.erase(node->tokens[0]);
    node = parent;
  }
  if (!node->parent && node->children.empty())
    std::erase_if(roots,
                  [&](const auto &root) { return root.second.get() == node; });
}

void PrefixTree::evict(Node &node) {
  evicted.add(node.hash);
  giveFixed(node, nullptr);
  kept -= node.isPlace;
  node.isPlace = false;
  prune(&node);
}

bool PrefixTree::makeRoom(std::string_view salt,
                          std::span<const int32_t> tokens, uint64_t more) {
  if (more > budget)
    return false;
  while (total > budget - more) {
    Path path = pathOf(salt, tokens);
    Node *least = nullptr;
    uint64_t leastWorth = 0;
    for (Node *node : allNodes()) {
      bool isNeeded = !path.nodes.empty() && path.nodes.back() == node;
      if (!node->parent || isNeeded || !isCandidate(*node))
        continue;
      uint64_t worth = worthOf(*node);
      if (!least || worth < leastWorth ||
          (worth == leastWorth && node->number < least->number))
        least = node, leastWorth = worth;
    }
    if (!least)
      return false;
    clock = std::max(clock, leastWorth);
    evict(*least);
  }
  return true;
}

bool PrefixTree::isSound() const {
  uint64_t bytes = 0, places = 0;
  auto look = [&](auto &self, const Node &node) -> bool {
    if (node.parent) {
      bytes += costOf(node) + bytesOf(node.rows) +
               (node.fixed ? node.fixed->size : 0);
      places += node.isPlace;
      if (node.tokens.empty() ||
          node.depth != node.parent->depth + node.tokens.size() ||
          (node.children.empty() && !node.isPlace) ||
          (node.fixed && !node.isPlace))
        return false;
      for (const SharedRows &run : node.rows)
        if (run->tokens.first < node.parent->depth || run->end() > node.depth)
          return false;
    }
    return std::all_of(node.children.begin(), node.children.end(),
                       [&](const auto &child) {
                         return child.second->parent == &node &&
                                child.second->tokens[0] == child.first &&
                                self(self, *child.second);
                       });
  };
  for (const auto &[salt, root] : roots)
    if (root->children.empty() || !look(look, *root))
      return false;
  return bytes == total && places == kept && total <= budget;
}
