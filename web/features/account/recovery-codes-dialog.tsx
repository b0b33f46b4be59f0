import { useState, type JSX } from 'react'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import { copyText } from '#web/lib/copy-text.ts'
import { saveFile } from '#web/lib/save-file.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import styles from '#web/ui/rows.module.css'

type RecoveryCodesDialogProps = { codes: readonly string[]; email: string; onClose: () => void }

/** Shows the codes the only time. Only its button closes it, so that no stray key press loses them. */
export function RecoveryCodesDialog({ codes, email, onClose }: RecoveryCodesDialogProps): JSX.Element {
  const [isCopied, setCopied] = useState(false)
  const text = `${PRODUCT_NAME} recovery codes of ${email}\nEach works once, in place of the code of your app.\n\n${codes.join('\n')}\n`
  const copy = async (): Promise<void> => {
    try {
      await copyText(codes.join('\n'))
      setCopied(true)
    } catch (error) {
      // Browsers may block the clipboard; the codes can still be selected or downloaded.
      console.error(error)
    }
  }
  return (
    <Dialog
      open
      onOpenChange={() => undefined}
      title="Save your recovery codes"
      description="Each of these signs you in once when your phone is lost. They are shown only now; keep them where you keep your passwords."
      isClosable={false}
      actions={
        <>
          <Button variant="outline" onClick={() => void copy()}>
            {isCopied ? 'Copied' : 'Copy'}
          </Button>
          <Button
            variant="outline"
            onClick={() => saveFile('alcove-recovery-codes.txt', new Blob([text], { type: 'text/plain' }))}
          >
            Download
          </Button>
          <Button onClick={onClose}>I have saved them</Button>
        </>
      }
    >
      <div className={styles.dialog}>
        <ul className={styles.codes} aria-label="Recovery codes">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
      </div>
    </Dialog>
  )
}
