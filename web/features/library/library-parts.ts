/** Parts of the library whose code loads after the first view, or when they are shown. */
import { preloadable } from '#web/ui/preloadable.tsx'

export const DocumentList = preloadable(() => import('./document-list.tsx'))
export const UploadArea = preloadable(() => import('./upload-area.tsx'))
