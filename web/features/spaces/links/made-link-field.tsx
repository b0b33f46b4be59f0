import { Check, Copy } from 'lucide-react'
import { useState, type JSX } from 'react'
import type { CreatedLink } from '#contract/space.ts'
import { copyText } from '#web/lib/copy-text.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './links-dialog.module.css'

/** The address of a new link, which is shown only now. */
export function MadeLinkField({ link }: { link: CreatedLink }): JSX.Element {
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    try {
      await copyText(link.url)
      setCopied(true)
    } catch (error) {
      // Browsers may refuse: the address is selected for the person's own command.
      console.error(error)
      document.querySelector<HTMLInputElement>('[data-made-link]')?.select()
    }
  }
  return (
    <div className={styles.made} role="status">
      <input
        className={styles.address}
        aria-label="Address of the new link"
        readOnly
        data-made-link
        value={link.url}
        onFocus={(event) => event.target.select()}
      />
      <Button variant="outline" size="sm" onClick={() => void copy()}>
        {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        {copied ? 'Copied' : 'Copy'}
      </Button>
      <p className={styles.once}>Copy it now: it is not shown again.</p>
    </div>
  )
}
