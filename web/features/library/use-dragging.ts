import { useRef, useState, type DragEvent } from 'react'

import { hasFiles } from './given-files.ts'

type DragHandler = (event: DragEvent<HTMLElement>) => void

interface Dragging {
  /** Whether files are dragged over the element, outside of those inside that take files themselves. */
  isDragging: boolean
  handlers: Record<'onDragEnter' | 'onDragOver' | 'onDragLeave' | 'onDrop', DragHandler>
}

/** Without `preventDefault` in each of these events, the browser would open the file. */
export function useDragging(onStart: () => void): Dragging {
  const [isDragging, setDragging] = useState(false)
  /** Elements that were entered and not left: entering a child comes before leaving its parent. */
  const entered = useRef<EventTarget[]>([])
  return {
    isDragging,
    handlers: {
      onDragEnter(event) {
        event.preventDefault()
        entered.current.push(event.target)
        if (!hasFiles(event)) return
        setDragging(true)
        onStart()
      },
      onDragOver(event) {
        event.preventDefault()
        if (hasFiles(event)) event.dataTransfer.dropEffect = 'copy'
      },
      onDragLeave(event) {
        event.preventDefault()
        const { currentTarget, target } = event
        // Elements that were removed meanwhile are never left.
        entered.current = entered.current.filter((one) => one instanceof Node && currentTarget.contains(one))
        const left = entered.current.indexOf(target)
        if (left !== -1) entered.current.splice(left, 1)
        if (entered.current.length === 0) setDragging(false)
      },
      onDrop(event) {
        event.preventDefault()
        entered.current = []
        setDragging(false)
      },
    },
  }
}
