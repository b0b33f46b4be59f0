import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, type JSX } from 'react'
import { useDropzone } from 'react-dropzone'

import type { DocumentRow } from '#contract/document.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'

import { takeGivenFiles } from './given-files.ts'
import { openUploads, PAGE_ZONE } from './upload-store.ts'
import { UploadTray } from './upload-tray.tsx'
import { useUploadZone } from './use-upload-zone.ts'

export interface PageUploadsProps {
  /** Called for files dropped on or pasted into the conversation, not for those added to the library. */
  onAddedToQuestion: (documents: DocumentRow[]) => void
}

/** Sends the files that the page is given, and those that an earlier page left. Unmounting aborts the uploads. */
export default function PageUploads({ onAddedToQuestion }: PageUploadsProps): JSX.Element {
  const queryClient = useQueryClient()
  const { id: userId } = useUser()
  const places = useRef(new WeakMap<object, EventTarget>())
  const zone = useUploadZone(PAGE_ZONE, (event) =>
    isAtConversation(places.current.get(event)) ? onAddedToQuestion : undefined,
  )
  const { getRootProps, getInputProps } = useDropzone({ ...zone, noClick: true, noKeyboard: true, noPaste: true })
  const { onDrop } = getRootProps()
  const { onChange } = getInputProps()
  useEffect(() => openUploads(queryClient, userId), [queryClient, userId])
  useEffect(
    () =>
      takeGivenFiles((files) => {
        if (files.at !== null) places.current.set(files.event, files.at)
        if (files.type === 'dropped') onDrop?.(files.event)
        else onChange?.(files.event)
      }),
    [onDrop, onChange],
  )
  return <UploadTray />
}

/** True inside the main part of the page, and for a paste while nothing has the focus. */
const isAtConversation = (target: EventTarget | undefined): boolean =>
  !(target instanceof Element) || target === document.body || target.closest('main') !== null
