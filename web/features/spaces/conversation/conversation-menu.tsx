import { useQuery, useQueryClient } from '@tanstack/react-query'
import { EyeOff, Link2, Share2 } from 'lucide-react'
import { useEffect, useRef, useState, type JSX } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { cacheConversation, updateConversation } from '#web/data/conversations.ts'
import { transferConversation, unshareConversation, type Transfer } from '#web/data/spaces/moves.ts'
import { mayUnshareOfOther } from '#web/data/spaces/space-rights.ts'
import { spacesQuery } from '#web/data/spaces/spaces.ts'
import { LinksDialog } from '#web/features/spaces/links/links-dialog.tsx'
import { TransferMenu } from '#web/features/spaces/target-items.tsx'
import { TRANSFER_WORDS } from '#web/features/spaces/transfer-words.ts'
import { reportRefusal } from '#web/features/spaces/report-refusal.ts'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { Menu, MenuDialogItem, MenuSwitchItem } from '#web/ui/menu.tsx'
import { SwitchMark } from '#web/ui/switch-mark.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './conversation-menu.module.css'

/** Tells the author of the open conversation that its sharing has ended elsewhere. @returns a function that says whether this page ends it */
function useEndOfSharing(
  { id, space_id: spaceId, is_shared: isShared }: ConversationRow,
  { isOwn, spaceName }: { isOwn: boolean; spaceName: string | undefined },
): (isEnding: boolean) => void {
  const isEndingHere = useRef(false)
  const known = useRef({ id, spaceId, isShared })
  useEffect(() => {
    const was = known.current
    known.current = { id, spaceId, isShared }
    if (!isOwn || was.id !== id || was.spaceId !== spaceId || was.isShared !== true || isShared === true) return
    const isByOther = !isEndingHere.current
    isEndingHere.current = false
    if (!isByOther) return
    const by = `It was ended by you elsewhere, or by an owner of “${spaceName ?? ''}”.`
    toast({ title: 'No longer shared', description: `${by} Only you see this conversation now.` })
  }, [id, spaceId, isShared, isOwn, spaceName])
  return (isEnding) => {
    isEndingHere.current = isEnding
  }
}

interface ConversationMenuProps {
  readonly conversation: ConversationRow
  /** Called when the person has given up the right to read it. */
  readonly onGiveUp: () => void
}

/** Shares, links and moves the open conversation. */
export function ConversationMenu({ conversation, onGiveUp }: ConversationMenuProps): JSX.Element | null {
  const queryClient = useQueryClient()
  const { id: userId } = useUser()
  const { data: spaces = [] } = useQuery(spacesQuery)
  const [isLinking, setLinking] = useState(false)
  const [isUnsharing, setUnsharing] = useState(false)
  const { id, space_id: spaceId = null, is_shared: isShared = false } = conversation
  const space = spaces.find((one) => one.id === spaceId)
  const isOwn = conversation.uid === userId
  const isArchived = space !== undefined && space.archived_at !== null
  const mayLink = spaceId === null ? isOwn : space !== undefined && space.role !== 'reader'
  // In an archived space sharing can only end.
  const mayShare = isOwn && space !== undefined && (!isArchived || isShared)
  const mayUnshare = mayUnshareOfOther(conversation, space, userId)
  const noteEnding = useEndOfSharing(conversation, { isOwn, spaceName: space?.name })

  const share = async (wanted: boolean): Promise<void> => {
    try {
      noteEnding(!wanted)
      cacheConversation(queryClient, await updateConversation(id, userId, { is_shared: wanted }))
      toast(
        wanted
          ? { title: 'Conversation shared', description: `Members of “${space?.name ?? ''}” read it from now on.` }
          : { title: 'No longer shared', description: 'Only you see this conversation now.' },
      )
    } catch (error) {
      noteEnding(false)
      reportRefusal(error, 'This could not be changed. Please try again.')
    }
  }
  const unshare = async (): Promise<void> => {
    try {
      await unshareConversation(queryClient, id, onGiveUp)
      toast({ title: 'No longer shared', description: `Only its author sees “${activeTitle(conversation)}” now.` })
    } catch (error) {
      reportRefusal(error, 'The sharing could not be ended. Please try again.')
    }
  }
  const send = async (transfer: Transfer, target: string | null, name: string): Promise<void> => {
    const { done, where } = TRANSFER_WORDS[transfer]
    try {
      await transferConversation(queryClient, { transfer, id, space: target })
      toast({ title: `Conversation ${done}`, description: `“${activeTitle(conversation)}” ${where} ${name} now.` })
    } catch (error) {
      reportRefusal(error, `The conversation could not be ${done}. Please try again.`)
    }
  }
  const inUse = spaces.filter((one) => one.archived_at === null)
  if (!isOwn && !mayLink) return null
  return (
    <>
      <Menu
        align="start"
        label="Share and move"
        trigger={
          <Button
            variant="ghost"
            size="icon"
            aria-label="Share or move conversation"
            title="Share or move"
            {...(spaceId === null ? {} : { 'data-shown': '' })}
          >
            <Share2 size={15} />
          </Button>
        }
      >
        {mayShare && (
          <MenuSwitchItem checked={isShared} onCheckedChange={(wanted) => void share(wanted)}>
            <span className={styles.option}>
              <span>Share with the space</span>
              <span className={styles.caption}>Members read it as it is written</span>
            </span>
            <SwitchMark checked={isShared} />
          </MenuSwitchItem>
        )}
        {mayUnshare && (
          <MenuDialogItem onOpen={() => setUnsharing(true)}>
            <EyeOff size={15} aria-hidden />
            <span className={styles.option}>
              <span>Stop sharing with the space…</span>
              <span className={styles.caption}>Only its author sees it then</span>
            </span>
          </MenuDialogItem>
        )}
        {mayLink && (
          <MenuDialogItem onOpen={() => setLinking(true)}>
            <Link2 size={15} aria-hidden />
            Links to read it…
          </MenuDialogItem>
        )}
        {isOwn && (
          <>
            <TransferMenu
              transfer="move"
              targets={inUse.filter((one) => one.id !== spaceId)}
              withPersonal={spaceId !== null}
              onChoose={(to, name) => void send('move', to, name)}
            />
            <TransferMenu
              transfer="copy"
              targets={inUse}
              withPersonal={spaces.length > 0}
              onChoose={(to, name) => void send('copy', to, name)}
            />
          </>
        )}
      </Menu>
      <ConfirmDialog
        open={isUnsharing}
        onOpenChange={setUnsharing}
        title="Stop sharing with the space"
        description={`Only its author sees “${activeTitle(conversation)}” then, and only its author can share it again.`}
        confirmLabel="Stop sharing"
        onConfirm={() => void unshare()}
      />
      {isLinking && <LinksDialog conversation={conversation} mayMake={!isArchived} onClose={() => setLinking(false)} />}
    </>
  )
}
