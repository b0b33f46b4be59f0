import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState, type JSX } from 'react'

import { useSpace } from '#web/data/current-space.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { toast } from '#web/ui/toast.tsx'

import { createTimeLeft, describeTimeLeft } from './time-left.ts'
import styles from './upload-controls.module.css'
import { cancelUploads, setPaused, useUploads } from './upload-store.ts'
import { isMany, type ReadingProgress } from './upload-summary.ts'

const OBSERVED_EVERY_MS = 1_000

/** How long the files take, and what can be done about it; nothing for a single file. */
export function UploadControls({
  progress,
  isPaused,
}: {
  progress: ReadingProgress
  isPaused: boolean
}): JSX.Element | null {
  const queryClient = useQueryClient()
  const space = useSpace()
  const isDisconnected = useUploads((state) => state.isDisconnected)
  const [isAsking, setAsking] = useState(false)
  const secondsLeft = useTimeLeft(progress)
  const left = progress.total - progress.done
  if (left === 0 || progress.total < 2) return null

  const fail = (description: string) => (error: unknown) => {
    console.error(error)
    toast({ title: 'Error', description, variant: 'destructive' })
  }
  const pause = () =>
    void setPaused(queryClient, space, !isPaused).catch(
      fail(`Failed to ${isPaused ? 'resume' : 'pause'} your files. Please try again.`),
    )
  const cancel = () =>
    void cancelUploads(queryClient, space).catch(
      fail('Failed to remove the files that are not read yet. Please try again.'),
    )
  const whyWaiting = isPaused ? 'Paused' : isDisconnected ? 'Waiting for the connection' : ''
  return (
    <div className={styles.controls}>
      <span className={styles.note}>
        {/* Without the time left, of which a screen reader would talk without end. */}
        <span role="status">{whyWaiting}</span>
        {whyWaiting === '' && isMany(progress.total) && secondsLeft !== null && describeTimeLeft(secondsLeft)}
      </span>
      <Button variant="outline" size="sm" onClick={pause}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button variant="ghost" size="sm" onClick={() => setAsking(true)}>
        Cancel
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Cancel the Rest"
        description={`${left === 1 ? 'One file is' : `${left} files are`} not read yet. ${left === 1 ? 'It' : 'They'} will not be added to your library; the files that were read stay.`}
        confirmLabel="Cancel the rest"
        onConfirm={cancel}
      />
    </div>
  )
}

function useTimeLeft(progress: ReadingProgress): number | null {
  const [timeLeft] = useState(createTimeLeft)
  const [seconds, setSeconds] = useState<number | null>(null)
  const observe = useEffectEvent(() => setSeconds(timeLeft.observe(progress)))
  useEffect(() => {
    const timer = setInterval(observe, OBSERVED_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return seconds
}
