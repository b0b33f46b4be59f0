import { useMemo } from 'react'

import type { Upload } from './upload-list.ts'
import { useUploads } from './upload-store.ts'

/** The uploads of one upload area, or those that no mounted area shows; the same list while no upload changes. */
export function useShownUploads(area: string | null): readonly Upload[] {
  const { uploads, areas } = useUploads()
  return useMemo(
    () => uploads.filter(({ zone }) => (area === null ? !areas.includes(zone) : zone === area)),
    [uploads, areas, area],
  )
}
