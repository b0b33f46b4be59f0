import { Wrench } from 'lucide-react'
import type { JSX } from 'react'
import { toolPreview } from '#web/lib/messages/tool-preview.ts'
import styles from './message.module.css'
import { useThreadPosition } from './thread-position.tsx'

type ToolMessageProps = { name: string | undefined; durationMs: number | undefined; content: string; status: string }

export function ToolMessage({ name, durationMs, content, status }: ToolMessageProps): JSX.Element {
  return (
    <article className={styles.tool} aria-label="Tool output" {...useThreadPosition()}>
      <details>
        <summary>
          <Wrench size={13} aria-hidden />
          <span className={styles.toolName}>{name ?? 'tool'}</span>
          {durationMs !== undefined && <span>{Math.round(durationMs)}ms</span>}
          <span className={styles.toolPreview} dir="auto">
            {toolPreview(content)}
          </span>
          <span>{status}</span>
        </summary>
        <p className={styles.toolContent} dir="auto">
          {content}
        </p>
      </details>
    </article>
  )
}
