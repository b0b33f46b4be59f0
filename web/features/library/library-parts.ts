/** Parts of the library whose code loads after the first view, or when they are shown. */
import { preloadable } from '#web/ui/preloadable.tsx'

export const DocumentList = preloadable(() => import('./document-list.tsx'))
/** Together with the code that opens the uploads of the person and ends them at sign-out. */
export const UploadArea = preloadable(async () => {
  const [area] = await Promise.all([import('./upload-area.tsx'), import('./page-uploads.tsx')])
  return area
})
