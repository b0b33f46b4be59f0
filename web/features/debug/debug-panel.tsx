import { X } from 'lucide-react'
import { useEffect, useState, type JSX } from 'react'
import { checkConnection, testHttpBroadcast, testSocketBroadcast } from '#web/data/live/debug-channel.ts'
import { useThreadStore } from '#web/data/thread-store.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './debug-panel.module.css'

type DebugPanelProps = { userId: string; chatId: string | null; onClose: () => void }

type Test = { label: string; run: (userId: string) => Promise<number>; passed: string }
type Entry = { at: string; text: string; failed: boolean }

const TESTS: readonly Test[] = [
  { label: 'Check connection', run: checkConnection, passed: 'Connected: joined the channel in' },
  { label: 'Test broadcast over the socket', run: testSocketBroadcast, passed: 'Socket: the message came back in' },
  { label: 'Test broadcast over HTTP', run: testHttpBroadcast, passed: 'HTTP: the message came back in' },
]

const ENTRIES_SHOWN = 20

const now = (): string => new Date().toLocaleTimeString(undefined, { hour12: false })

export default function DebugPanel({ userId, chatId, onClose }: DebugPanelProps): JSX.Element {
  const externalId = useThreadStore((state) => state.externalApiConversationId)
  const [running, setRunning] = useState(false)
  const [entries, setEntries] = useState<readonly Entry[]>([])

  useEffect(() => {
    const opener = document.activeElement
    return () => {
      if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus()
    }
  }, [])

  const note = (text: string, failed: boolean): void =>
    setEntries((before) => [...before, { at: now(), text, failed }].slice(-ENTRIES_SHOWN))

  const run = async ({ label, run: start, passed }: Test): Promise<void> => {
    setRunning(true)
    try {
      note(`${passed} ${(await start(userId)).toFixed(1)} ms`, false)
    } catch (error) {
      console.error(error)
      note(`${label} failed: ${error instanceof Error ? error.message : String(error)}`, true)
    } finally {
      setRunning(false)
    }
  }

  const ids = { 'User id': userId, 'Active chat id': chatId, 'External id': chatId === null ? null : externalId }
  return (
    <section aria-label="Broadcast Testing Panel" className={styles.panel}>
      <header className={styles.header}>
        <h2 className={styles.title}>Broadcast Testing Panel</h2>
        <Button variant="ghost" size="icon" aria-label="Close panel" onClick={onClose}>
          <X size={16} />
        </Button>
      </header>
      <dl className={styles.ids}>
        {Object.entries(ids).map(([name, id]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{id ?? 'none'}</dd>
          </div>
        ))}
      </dl>
      <div className={styles.tests}>
        {TESTS.map((test) => (
          <Button key={test.label} variant="outline" size="sm" disabled={running} onClick={() => void run(test)}>
            {test.label}
          </Button>
        ))}
      </div>
      <div role="log" aria-label="Results" className={styles.log}>
        <ol>
          {entries.map((entry, index) => (
            <li key={index} className={entry.failed ? styles.failed : undefined}>
              <time>{entry.at}</time> {entry.text}
            </li>
          ))}
        </ol>
      </div>
    </section>
  )
}
