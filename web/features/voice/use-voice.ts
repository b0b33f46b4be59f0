import { useEffect, useRef, useState } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { createRecordingWriter, deleteRecording, recordingsDatabase } from '#web/data/recordings.ts'
import type { Recording } from '#web/data/recordings-database.ts'
import { startRecording } from './recorder.ts'

const NO_MICROPHONE = 'Failed to access microphone. Please check your permissions.'
const NO_TRANSCRIPT = 'Failed to transcribe audio. Please try again.'

export type Voice = {
  state: 'idle' | 'recording' | 'transcribing'
  seconds: number
  press: () => void
  transcribeAgain: (recording: Recording) => void
}

type VoiceOptions = {
  /** The recording is stored under this conversation. */
  conversationId: string | null
  onText: (text: string) => void
}

/** Most visits never load it. */
const transcription = () => import('#web/data/transcribe.ts')

const holdBack = (event: BeforeUnloadEvent): void => event.preventDefault()

/** Ends the recording; resolves with the stored recording. Rejects if it is empty. */
type End = () => Promise<Recording>

/** Also stores the recording on disk, so that it survives the page. Rejects without microphone permission. */
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

/** Transcribes speech for `onText`. The recording stays stored until its transcript arrives. */
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
    Promise.all([recordingsDatabase(), transcription()]).catch((error: unknown) => console.error(error))
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
      const { transcribe } = await transcription()
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
