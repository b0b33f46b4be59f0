import { useEffect, useRef, useState } from 'react'
import { transcribe } from '#web/data/transcribe.ts'
import { forgetRecording, keepRecording } from './recording-store.ts'
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
  transcribeAgain: (recording: Blob) => void
}

/** From speech to `onText`. A recording that does not become text is kept. */
export function useVoice(onText: (text: string) => void): Voice {
  const [state, setState] = useState<Voice['state']>('idle')
  const [seconds, setSeconds] = useState(0)
  const recorder = useRef<Recorder | null>(null)
  const asking = useRef(false)
  const mounted = useRef(true)

  useEffect(() => {
    mounted.current = true
    return () => {
      mounted.current = false
      recorder.current?.stop().then(keepRecording, (error: unknown) => console.error(error))
      recorder.current = null
    }
  }, [])

  const start = async (): Promise<void> => {
    if (asking.current) return
    asking.current = true
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

  const intoText = async (made: Promise<Blob>): Promise<void> => {
    setState('transcribing')
    let recording: Blob | null = null
    try {
      recording = await made
      const text = (await transcribe(recording)).trim()
      if (text === '') throw new Error('No words were heard')
      if (mounted.current) {
        forgetRecording(recording)
        onText(text)
      } else keepRecording(recording)
    } catch (error) {
      if (recording !== null) keepRecording(recording)
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
      void intoText(stop())
    },
    transcribeAgain: (recording) => void intoText(Promise.resolve(recording)),
  }
}
