import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { absenceQuery } from '#web/data/documents/absent-document.ts'
import { UNKNOWN_ABSENCE } from '#web/lib/documents/unknown-absence.ts'

/** Says why the document of a citation cannot be opened. */
export default function AbsentDocument({ document, message }: { document: string; message: string }): JSX.Element {
  const { data } = useQuery(absenceQuery(document, message))
  return <>{data ?? UNKNOWN_ABSENCE}</>
}
