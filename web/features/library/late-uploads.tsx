import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState, type ComponentType, type JSX } from 'react'

import { afterFirstReads } from '#web/data/after-first-reads.ts'
import { toast } from '#web/ui/toast.tsx'

import { discardGivenFiles, whenUploadsNeeded } from './given-files.ts'
import { DocumentList, UploadArea } from './library-parts.ts'
import type { PageUploadsProps } from './page-uploads.tsx'

/** Shows uploads that no upload area shows. Its code loads after the first view, or when the page is given files. */
export function LateUploads(props: PageUploadsProps): JSX.Element | null {
  const queryClient = useQueryClient()
  const [PageUploads, setPageUploads] = useState<ComponentType<PageUploadsProps> | null>(null)
  const load = useCallback(() => {
    UploadArea.preload()
    DocumentList.preload()
    import('./page-uploads.tsx').then(
      (loaded) => setPageUploads(() => loaded.default),
      (error: unknown) => {
        console.error(error)
        if (!discardGivenFiles()) return
        toast({
          title: 'Error',
          description: 'The files could not be taken. Check the connection and add them again.',
          variant: 'destructive',
        })
      },
    )
  }, [])
  useEffect(() => whenUploadsNeeded(load), [load])
  useEffect(() => afterFirstReads(queryClient, load), [queryClient, load])
  return PageUploads && <PageUploads {...props} />
}
