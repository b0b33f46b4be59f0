import type { JSX } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'

export type Apart = { draw: (content: JSX.Element) => void; end: () => void }

/** Draws a dialog that code opens which loads late, in a tree of its own: the page holds no state for it. */
export function drawApart(): Apart {
  const container = document.createElement('div')
  document.body.append(container)
  const root = createRoot(container)
  return {
    draw: (content) => flushSync(() => root.render(content)),
    end: () => {
      root.unmount()
      container.remove()
    },
  }
}
