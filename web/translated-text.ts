/**
 * Lets page translators and React change the same text. A translator takes each text node out of the page and puts an
 * element (`<font>`) in its place; React goes on with the node, so its updates would be lost and its removals throw. Here
 * React's calls apply to the element instead: an update puts the node back, which the translator then translates again.
 */

/** The element in place of each text node, and the node of each such element. */
const replacements = new WeakMap<Node, Element>()
const originals = new WeakMap<Node, Node>()

function setReplacement(text: Node, element: Element): void {
  replacements.set(text, element)
  originals.set(element, text)
}

/** A translator replaces a node in one step, or in two whose records name the other node as a sibling. */
function note({ addedNodes, removedNodes, previousSibling, nextSibling }: MutationRecord): void {
  for (const removed of removedNodes) {
    const text = removed.nodeType === Node.TEXT_NODE ? removed : originals.get(removed)
    if (text === undefined || text.parentNode !== null) continue
    const element = [addedNodes[0], previousSibling, nextSibling].find((node) => isReplacement(node))
    if (element !== undefined) setReplacement(text, element)
  }
}

const isReplacement = (node: Node | null | undefined): node is Element =>
  node instanceof Element && node.localName === 'font' && !originals.has(node)

const observer = new MutationObserver((records) => records.forEach(note))

/** The node itself, or the element in its place; null if the page shows neither. */
function shownFor(node: Node): Node | null {
  if (node.parentNode !== null) return node
  observer.takeRecords().forEach(note)
  return replacements.get(node) ?? null
}

/** The child of `parent` that is or contains `node`, which a translator may have put into another element. */
function childAround(parent: Node, node: Node | null): Node | null {
  let child = node
  while (child !== null && child.parentNode !== parent) child = child.parentNode
  return child
}

/** Takes the translation of a text that React inserts again out of the page. */
function dropReplacement(node: Node): void {
  const shown = node.nodeType === Node.TEXT_NODE ? shownFor(node) : node
  if (shown !== node && shown instanceof Element) shown.remove()
}

/** To be called before React renders. */
export function tolerateTranslators(): void {
  // Each is called with the node that it was called on.
  /* eslint-disable @typescript-eslint/unbound-method */
  const { appendChild, insertBefore, removeChild } = Node.prototype
  const value = Object.getOwnPropertyDescriptor(Node.prototype, 'nodeValue')
  if (value?.set === undefined) return
  const setValue = value.set
  /* eslint-enable @typescript-eslint/unbound-method */
  observer.observe(document, { childList: true, subtree: true })
  Node.prototype.appendChild = function <T extends Node>(this: Node, node: T): T {
    dropReplacement(node)
    return appendChild.call(this, node) as T
  }
  Node.prototype.insertBefore = function <T extends Node>(this: Node, node: T, before: Node | null): T {
    dropReplacement(node)
    return insertBefore.call(this, node, before && childAround(this, shownFor(before))) as T
  }
  Node.prototype.removeChild = function <T extends Node>(this: Node, node: T): T {
    const shown = shownFor(node)
    if (shown?.parentNode && this.contains(shown)) removeChild.call(shown.parentNode, shown)
    return node
  }
  Object.defineProperty(Text.prototype, 'nodeValue', {
    ...value,
    set(this: Text, text: string) {
      const shown = shownFor(this)
      if (shown !== this && shown instanceof Element) shown.replaceWith(this)
      setValue.call(this, text)
    },
  })
}
