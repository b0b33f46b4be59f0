import { useRef, useState, type DragEvent } from 'react'

import { hasFiles } from './given-files.ts'

type DragHandler = (event: DragEvent<HTMLElement>) => void

interface Dragging {
  /** Whether files are dragged over the element, outside of those inside that take files themselves. */
  isDragging: boolean
  handlers: Record<'onDragEnter' | 'onDragOver' | 'onDragLeave' | 'onDrop', DragHandler>
}

/** Without `preventDefault` in each of these events, the browser would open the file; with it, a field takes no dragged text. */
export function useDragging(onStart: () => void): Dragging {
  const [isDragging, setDragging] = useState(false)
  /** Elements that were entered and not left: entering a child comes before leaving its parent. */
  const entered = useRef<EventTarget[]>([])
  return {
    isDragging,
    handlers: {
      onDragEnter(event) {
        if (!hasFiles(event)) return
        event.preventDefault()
        entered.current.push(event.target)
        setDragging(true)
        onStart()
      },
      onDragOver(event) {
        if (!hasFiles(event)) return
        event.preventDefault()
        event.dataTransfer.dropEffect = 'copy'
      },
      onDragLeave(event) {
        if (!hasFiles(event)) return
        event.preventDefault()
        const { currentTarget, target } = event
        // Elements that were removed meanwhile are never left.
        entered.current = entered.current.filter((one) => one instanceof Node && currentTarget.contains(one))
        const left = entered.current.indexOf(target)
        if (left !== -1) entered.current.splice(left, 1)
        if (entered.current.length === 0) setDragging(false)
      },
      onDrop(event) {
        if (!hasFiles(event)) return
        event.preventDefault()
        entered.current = []
        setDragging(false)
      },
    },
  }
}
