/** Parts that no first view needs, most of them of spaces. They are one chunk, whose code loads after it or when one is shown. */
import type { ComponentType, ReactNode } from 'react'
import { LibraryLoading } from '#web/features/library/library-loading.tsx'
import { loadable } from '#web/ui/loadable.tsx'
import type * as lateChunk from './late-chunk.ts'

const lateChunkPart = <Props extends object>(
  pick: (chunk: typeof lateChunk) => ComponentType<Props>,
  loading?: () => ReactNode,
) => loadable(async () => ({ default: pick(await import('./late-chunk.ts')) }), loading && { loading })

export const ConversationMenu = lateChunkPart((chunk) => chunk.ConversationMenu)
export const DeletedSpaceNotice = lateChunkPart((chunk) => chunk.DeletedSpaceNotice)
export const DocumentMove = lateChunkPart((chunk) => chunk.DocumentMove)
export const InvitationNotices = lateChunkPart((chunk) => chunk.InvitationNotices)
export const LimitNotice = lateChunkPart((chunk) => chunk.LimitNotice)
export const LiveSpaces = lateChunkPart((chunk) => chunk.LiveSpaces)
export const MembersSection = lateChunkPart((chunk) => chunk.MembersSection)
export const NewSpaceDialog = lateChunkPart((chunk) => chunk.NewSpaceDialog)
export const OwnDocumentsSwitch = lateChunkPart((chunk) => chunk.OwnDocumentsSwitch)
export const SharingNote = lateChunkPart((chunk) => chunk.SharingNote)
export const SpaceSettings = lateChunkPart((chunk) => chunk.SpaceSettings)
export const SpaceStart = lateChunkPart((chunk) => chunk.SpaceStart, LibraryLoading)
export const SpaceSwitcher = lateChunkPart((chunk) => chunk.SpaceSwitcher)
export const TypingLine = lateChunkPart((chunk) => chunk.TypingLine)
