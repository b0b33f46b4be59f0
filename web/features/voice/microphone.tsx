import { Mic, Square } from 'lucide-react'
import type { JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { useRecordings } from '#web/data/recordings.ts'
import { Button } from '#web/ui/button.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import { SavedRecordings } from './saved-recordings.tsx'
import { useVoice, type Voice } from './use-voice.ts'
import styles from './voice.module.css'

type MicrophoneProps = {
  conversationId: string | null
  disabled: boolean
  onText: (text: string) => void
}

const LABELS: Record<Voice['state'], string> = {
  idle: 'Speak your message',
  recording: 'Stop recording',
  transcribing: 'Turning speech into text',
}

const clock = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`

export function Microphone({ conversationId, disabled, onText }: MicrophoneProps): JSX.Element {
  const { state, seconds, press, transcribeAgain } = useVoice({ conversationId, onText })
  const userId = useUser().id
  const recordings = useRecordings((store) => store.recordings)
  const ofBox = recordings.filter(
    (recording) => recording.userId === userId && recording.conversationId === conversationId,
  )
  return (
    <>
      {state === 'recording' && (
        <span className={styles.clock} aria-hidden>
          {clock(seconds)}
        </span>
      )}
      <Tooltip content={LABELS[state]}>
        <Button
          variant="ghost"
          size="icon"
          className={state === 'recording' ? styles.recording : undefined}
          aria-label={LABELS[state]}
          disabled={state === 'transcribing' || (disabled && state === 'idle')}
          onClick={press}
        >
          {state === 'idle' && <Mic size={18} />}
          {state === 'recording' && <Square size={13} fill="currentColor" />}
          {state === 'transcribing' && <Spinner />}
        </Button>
      </Tooltip>
      <span role="status" className={styles.status}>
        {state === 'recording' && 'Recording'}
        {state === 'transcribing' && LABELS.transcribing}
      </span>
      {state === 'idle' && <SavedRecordings recordings={ofBox} disabled={disabled} onTryAgain={transcribeAgain} />}
    </>
  )
}
