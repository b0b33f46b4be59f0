import { useCallback, useEffect, useRef, useState } from 'react'
import { useUser } from '#web/data/auth-context.tsx'
import { forgetRecording, keepRecording, recordingsDatabase } from '#web/data/recordings.ts'
import type { Recording } from '#web/data/recordings-database.ts'
import { transcribe } from '#web/data/transcribe.ts'
import { startRecording, type Recorder } from './recorder.ts'

const NO_MICROPHONE = 'Failed to access microphone. Please check your permissions.'
const NO_TRANSCRIPT = 'Failed to transcribe audio. Please try again.'

export type Voice = {
  state: 'idle' | 'recording' | 'transcribing'
  /** Length of the recording so far. */
  seconds: number
  /** Starts a recording, or ends it and has it transcribed. */
  press: () => void
  /** Has a recording transcribed that was made before. */
  transcribeAgain: (recording: Recording) => void
}

type VoiceOptions = {
  /** What is said is kept for it. */
  conversationId: string | null
  onText: (text: string) => void
}

/** Has the browser ask whoever leaves. */
const holdBack = (event: BeforeUnloadEvent): void => event.preventDefault()

/** From speech to `onText`. What was said is kept until it has become text. */
export function useVoice({ conversationId, onText }: VoiceOptions): Voice {
  const userId = useUser().id
  const [state, setState] = useState<Voice['state']>('idle')
  const [seconds, setSeconds] = useState(0)
  const recorder = useRef<Recorder | null>(null)
  const asking = useRef(false)
  const mounted = useRef(true)

  const keep = useCallback(
    (audio: Blob): Recording => {
      const recording = { id: crypto.randomUUID(), userId, conversationId, audio, madeAt: Date.now() }
      keepRecording(recording)
      return recording
    },
    [userId, conversationId],
  )

  useEffect(() => {
    mounted.current = true
    return () => {
      mounted.current = false
      recorder.current?.stop().then(keep, (error: unknown) => console.error(error))
      recorder.current = null
    }
  }, [keep])

  useEffect(() => {
    if (state !== 'recording') return
    window.addEventListener('beforeunload', holdBack)
    return () => window.removeEventListener('beforeunload', holdBack)
  }, [state])

  const start = async (): Promise<void> => {
    if (asking.current) return
    asking.current = true
    recordingsDatabase().catch((error: unknown) => console.error(error))
    try {
      setSeconds(0)
      const started = await startRecording(() => setSeconds((before) => before + 1))
      if (!mounted.current) {
        await started.stop()
        return
      }
      recorder.current = started
      setState('recording')
    } catch (error) {
      console.error(error)
      console.error(NO_MICROPHONE)
    } finally {
      asking.current = false
    }
  }

  const intoText = async (made: Promise<Recording>): Promise<void> => {
    setState('transcribing')
    try {
      const recording = await made
      const text = (await transcribe(recording.audio)).trim()
      if (text === '') throw new Error('No words were heard')
      if (mounted.current) {
        forgetRecording(recording)
        onText(text)
      }
    } catch (error) {
      console.error(error)
      console.error(NO_TRANSCRIPT)
    } finally {
      setState('idle')
    }
  }

  return {
    state,
    seconds,
    press: () => {
      if (state === 'idle') void start()
      if (state !== 'recording' || recorder.current === null) return
      const { stop } = recorder.current
      recorder.current = null
      void intoText(stop().then(keep))
    },
    transcribeAgain: (recording) => void intoText(Promise.resolve(recording)),
  }
}
