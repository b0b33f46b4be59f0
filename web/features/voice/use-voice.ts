import { useEffect, useRef, useState } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { createRecordingWriter, deleteRecording, recordingsDatabase } from '#web/data/recordings.ts'
import type { Recording } from '#web/data/recordings-database.ts'
import { transcribe } from '#web/data/transcribe.ts'
import { startRecording } from './recorder.ts'

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

/** Ends the recording; resolves with what is kept of it. Rejects where nothing was said. */
type End = () => Promise<Recording>

/** Records on the disk as well, where what was said outlives the page. Rejects where the microphone may not be used. */
async function record(of: Pick<Recording, 'userId' | 'conversationId'>, onChunk: () => void): Promise<End> {
  const running = createRecordingWriter(of)
  const orDrop = (error: unknown): never => {
    running.discard()
    throw error
  }
  const recorder = await startRecording((chunk) => {
    running.add(chunk)
    onChunk()
  }).catch(orDrop)
  return () => recorder.stop().then(running.finish, orDrop)
}

/** From speech to `onText`. What was said is kept until it has become text. */
export function useVoice({ conversationId, onText }: VoiceOptions): Voice {
  const userId = useUser().id
  const [state, setState] = useState<Voice['state']>('idle')
  const [seconds, setSeconds] = useState(0)
  const end = useRef<End | null>(null)
  const asking = useRef(false)
  const mounted = useRef(true)

  useEffect(() => {
    mounted.current = true
    return () => {
      mounted.current = false
      end.current?.().catch((error: unknown) => console.error(error))
      end.current = null
    }
  }, [])

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
      const started = await record({ userId, conversationId }, () => setSeconds((before) => before + 1))
      if (!mounted.current) {
        deleteRecording(await started())
        return
      }
      end.current = started
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
        deleteRecording(recording)
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
      if (state !== 'recording' || end.current === null) return
      const ended = end.current()
      end.current = null
      void intoText(ended)
    },
    transcribeAgain: (recording) => void intoText(Promise.resolve(recording)),
  }
}
