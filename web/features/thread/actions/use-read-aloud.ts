import { useEffect } from 'react'
import { create } from 'zustand'
import { usePageSettings } from '#web/data/settings.ts'
import { spokenSentences } from '#web/lib/markdown/spoken-text.ts'

const useSpeaking = create<{ messageId: string | null }>(() => ({ messageId: null }))

/** Browsers report the end of a cancelled utterance late, when another one may be spoken for the same answer. */
let spoken: SpeechSynthesisUtterance | null = null

function stopSpeaking(): void {
  spoken = null
  useSpeaking.setState({ messageId: null })
  speechSynthesis.cancel()
}

/** Sentence by sentence, because some browsers stop in the middle of a long utterance. */
function speak(sentences: readonly string[], voiceName: string | null): void {
  const [sentence, ...rest] = sentences
  if (sentence === undefined) return stopSpeaking()
  const utterance = new SpeechSynthesisUtterance(sentence)
  const voice = speechSynthesis.getVoices().find(({ name }) => name === voiceName)
  if (voice !== undefined) {
    utterance.voice = voice
    utterance.lang = voice.lang
  }
  utterance.onend = () => {
    if (spoken === utterance) speak(rest, voiceName)
  }
  utterance.onerror = ({ error }) => {
    if (error === 'canceled' || error === 'interrupted') return
    console.error('Reading aloud failed', error)
    if (spoken === utterance) stopSpeaking()
  }
  spoken = utterance
  speechSynthesis.speak(utterance)
}

export type ReadAloud = { speaking: boolean; toggle: () => void }

/** Reads an answer aloud with the browser's voices; null where it has none. */
export function useReadAloud(messageId: string, markdown: string): ReadAloud | null {
  const speaking = useSpeaking((state) => state.messageId === messageId)
  const voiceName = usePageSettings((state) => state.voiceName)
  useEffect(
    () => () => {
      if (useSpeaking.getState().messageId === messageId) stopSpeaking()
    },
    [messageId],
  )
  if (!('speechSynthesis' in window)) return null
  return {
    speaking,
    toggle: () => {
      if (speaking) return stopSpeaking()
      stopSpeaking()
      useSpeaking.setState({ messageId })
      speak(spokenSentences(markdown), voiceName)
    },
  }
}
