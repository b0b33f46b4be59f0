import { useEffect, useState } from 'react'

const SHOWN_MS = 1500

/** Copies a text, or the text that a function returns on press; `copied` is true for a moment afterwards. */
export function useCopy(text: string | (() => string)): { copied: boolean; copy: () => void } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return {
    copied,
    copy: () => {
      navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
        () => setCopied(true),
        (error: unknown) => console.error(error),
      )
    },
  }
}
