import { Check, Copy, Square, Volume2 } from 'lucide-react'
import type { JSX, ReactNode } from 'react'
import type { Source } from '#contract/source.ts'
import styles from '#web/features/thread/message/message.module.css'
import { withFootnotes } from '#web/lib/markdown/markdown-copy.ts'
import { Button } from '#web/ui/button.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import { AnswerRating } from './rating.tsx'
import { useCopy } from './use-copy.ts'
import { useReadAloud } from './use-read-aloud.ts'

type MessageActionsProps = {
  messageId: string
  version: number
  text: string
  sources: readonly Source[]
  children?: ReactNode
}

export function MessageActions({ messageId, version, text, sources, children }: MessageActionsProps): JSX.Element {
  const { copied, copy } = useCopy(() => withFootnotes(text, sources))
  const aloud = useReadAloud(messageId, text)
  return (
    <div className={styles.actions}>
      <AnswerRating rated={{ messageId, version }} />
      <Tooltip content={copied ? 'Copied' : 'Copy'}>
        <Button variant="ghost" size="icon" aria-label={copied ? 'Copied' : 'Copy answer'} onClick={copy}>
          {copied ? <Check size={15} /> : <Copy size={15} />}
        </Button>
      </Tooltip>
      {aloud !== null && (
        <Tooltip content={aloud.speaking ? 'Stop reading' : 'Read aloud'}>
          <Button
            variant="ghost"
            size="icon"
            aria-label={aloud.speaking ? 'Stop reading' : 'Read aloud'}
            onClick={aloud.toggle}
          >
            {aloud.speaking ? <Square size={13} /> : <Volume2 size={16} />}
          </Button>
        </Tooltip>
      )}
      {children}
    </div>
  )
}
