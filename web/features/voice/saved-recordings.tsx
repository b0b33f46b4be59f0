import { X } from 'lucide-react'
import type { JSX } from 'react'
import type { Recording } from '#web/data/recordings-database.ts'
import { deleteRecording } from '#web/data/recordings.ts'
import { saveFile } from '#web/lib/save-file.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './voice.module.css'

const save = ({ audio }: Recording): void => saveFile(`recording.${audio.type === 'audio/mp4' ? 'm4a' : 'webm'}`, audio)

type SavedRecordingsProps = {
  recordings: readonly Recording[]
  disabled: boolean
  onTryAgain: (recording: Recording) => void
}

export function SavedRecordings({ recordings, disabled, onTryAgain }: SavedRecordingsProps): JSX.Element {
  return (
    <>
      {recordings.map((recording) => (
        <div key={recording.id} role="group" aria-label="Recording" className={styles.saved}>
          <span className={styles.words}>Recording kept.</span>
          <Button variant="link" disabled={disabled} onClick={() => onTryAgain(recording)}>
            Try again
          </Button>
          <Button variant="link" onClick={() => save(recording)}>
            Save it
          </Button>
          <Button
            variant="ghost"
            size="icon"
            className={styles.discard}
            aria-label="Discard recording"
            onClick={() => deleteRecording(recording)}
          >
            <X size={14} />
          </Button>
        </div>
      ))}
    </>
  )
}
