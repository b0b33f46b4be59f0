import { useMutation, useQueryClient } from '@tanstack/react-query'
import { FilePlus2 } from 'lucide-react'
import { useRef, type JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { MAX_UPLOAD_BYTES } from '#contract/upload-limits.ts'
import { cacheDocuments } from '#web/data/documents/document-cache.ts'
import { uploadDocumentVersion } from '#web/data/documents/upload-file.ts'
import { Button } from '#web/ui/button.tsx'
import { toast } from '#web/ui/toast.tsx'

const ACCEPTED = Object.keys(UPLOAD_TYPES)
  .map((extension) => `.${extension}`)
  .join(',')

/** Adds a newer file to a document; older sources still open the version that they cite. */
export function AddVersionButton({ document }: { document: DocumentRow }): JSX.Element {
  const queryClient = useQueryClient()
  const input = useRef<HTMLInputElement>(null)
  const fail = (description: string) => toast({ title: 'Error', description, variant: 'destructive' })
  const add = useMutation({
    mutationFn: (file: File) => uploadDocumentVersion(document.id, file),
    onSuccess: (outcome) => {
      if ('refusal' in outcome) return fail(outcome.refusal)
      cacheDocuments(queryClient, [outcome.document])
    },
    onError: (error) => {
      console.error(error)
      fail('Failed to add the newer version. Please try again.')
    },
  })
  const take = (file: File | undefined) => {
    if (!file) return
    if (file.size > MAX_UPLOAD_BYTES) fail(`File is larger than ${MAX_UPLOAD_BYTES} bytes`)
    else add.mutate(file)
  }

  return (
    <>
      <input
        ref={input}
        type="file"
        accept={ACCEPTED}
        hidden
        aria-label={`Newer version of ${document.filename}`}
        onChange={({ currentTarget }) => {
          take(currentTarget.files?.[0])
          // Reset, so that choosing an identical file after a rejection fires a change event.
          currentTarget.value = ''
        }}
      />
      <Button
        variant="ghost"
        size="icon"
        aria-label={`Add a newer version of ${document.filename}`}
        title="Add a newer version"
        disabled={add.isPending}
        onClick={() => input.current?.click()}
      >
        <FilePlus2 size={15} />
      </Button>
    </>
  )
}
