/** Parts that no first view needs, most of them of spaces. They are one chunk, whose code loads after it or when one is shown. */
import { lazy } from 'react'

const load = () => import('./late-chunk.ts')

export const ConversationMenu = lazy(async () => ({ default: (await load()).ConversationMenu }))
export const DeletedSpaceNotice = lazy(async () => ({ default: (await load()).DeletedSpaceNotice }))
export const DocumentMove = lazy(async () => ({ default: (await load()).DocumentMove }))
export const InvitationNotices = lazy(async () => ({ default: (await load()).InvitationNotices }))
export const LimitNotice = lazy(async () => ({ default: (await load()).LimitNotice }))
export const LiveSpaces = lazy(async () => ({ default: (await load()).LiveSpaces }))
export const MembersSection = lazy(async () => ({ default: (await load()).MembersSection }))
export const NewSpaceDialog = lazy(async () => ({ default: (await load()).NewSpaceDialog }))
export const OwnDocumentsSwitch = lazy(async () => ({ default: (await load()).OwnDocumentsSwitch }))
export const SharingNote = lazy(async () => ({ default: (await load()).SharingNote }))
export const SpaceSettings = lazy(async () => ({ default: (await load()).SpaceSettings }))
export const SpaceStart = lazy(async () => ({ default: (await load()).SpaceStart }))
export const SpaceSwitcher = lazy(async () => ({ default: (await load()).SpaceSwitcher }))
export const TypingLine = lazy(async () => ({ default: (await load()).TypingLine }))
