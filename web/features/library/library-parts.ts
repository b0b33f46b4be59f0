/** Parts of the library whose code loads after the first view, or when they are shown. */
import { loadable } from '#web/ui/loadable.tsx'
import { LibraryLoading } from './library-loading.tsx'

export const DocumentList = loadable(() => import('./document-list.tsx'), { loading: LibraryLoading })
/** Together with the code that opens the uploads of the person and ends them at sign-out. */
export const UploadArea = loadable(async () => {
  const [area] = await Promise.all([import('./upload-area.tsx'), import('./page-uploads.tsx')])
  return area
})
