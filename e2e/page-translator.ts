/** Stand-ins for the page translators of browsers and extensions. Each function runs in the page. */

declare global {
  interface Window {
    translated?: Map<Element, Text>
  }
}

/**
 * Shows every text in capitals, also those that come later: the words of a text node go into `<font><font>`, which takes
 * the place of the node.
 *
 * @param steps `replace` exchanges them in one step; `insert` inserts the element before the node and then removes that
 */
export function translatePage(steps: 'replace' | 'insert'): void {
  const HTML = 'http://www.w3.org/1999/xhtml'
  const originals = new Map<Element, Text>()
  window.translated = originals
  const translate = (root: Node): void => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    const texts: Text[] = []
    while (walker.nextNode()) if (walker.currentNode instanceof Text) texts.push(walker.currentNode)
    for (const text of texts) {
      const isLeft = text.parentElement?.closest('font, script, style, textarea, svg, [translate=no]') !== null
      if (text.data.trim() === '' || isLeft) continue
      const [outer, inner] = [document.createElementNS(HTML, 'font'), document.createElementNS(HTML, 'font')]
      inner.textContent = text.data.toUpperCase()
      outer.append(inner)
      originals.set(outer, text)
      if (steps === 'replace') text.replaceWith(outer)
      else {
        text.before(outer)
        text.remove()
      }
    }
  }
  translate(document.body)
  document.documentElement.lang = 'fr'
  document.documentElement.classList.add('translated-ltr')
  new MutationObserver((records) => {
    if (window.translated === undefined) return
    for (const { addedNodes } of records)
      for (const node of addedNodes)
        if (node.isConnected && node.parentElement?.closest('font') === null)
          translate(node instanceof Element ? node : node.parentElement)
  }).observe(document.body, { childList: true, subtree: true })
}

/** Puts the original texts back, as "Show original" of a translator does. */
export function restorePage(): void {
  for (const [element, text] of window.translated ?? []) if (element.isConnected) element.replaceWith(text)
  delete window.translated
  document.documentElement.lang = 'en'
  document.documentElement.classList.remove('translated-ltr')
}
