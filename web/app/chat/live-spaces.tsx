import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { refetch } from '#web/data/refetch.ts'
import { forgetAuthorNames, useAuthorNames } from '#web/data/spaces/author-names.ts'
import { followAnswers } from '#web/data/spaces/follow-answers.ts'
import { followSpaces } from '#web/data/spaces/follow-spaces.ts'
import { useKnownSpaces } from '#web/data/spaces/known-spaces.ts'
import { storeLastSpace } from '#web/data/spaces/last-space.ts'
import { peopleQuery } from '#web/data/spaces/members.ts'
import { spacesQuery } from '#web/data/spaces/spaces.ts'
import { unreadKey } from '#web/data/spaces/unread-key.ts'
import { useOwnPresence } from './use-own-presence.ts'
import { useReadMarks } from './use-read-marks.ts'
import type { RouteControl } from './use-route-state.ts'
import { useSpaceChanges } from './use-space-changes.ts'

type LiveSpacesProps = {
  route: RouteControl
  /** Called before the page leaves a space that the person is no longer in. */
  onLost: () => void
}

/** Follows the spaces of the person while the page is open. Its code loads after the first view. */
export function LiveSpaces({ route, onLost }: LiveSpacesProps): null {
  const queryClient = useQueryClient()
  const { id: userId } = useUser()
  const { spaceId } = route
  const { data: spaces } = useQuery(spacesQuery)
  const isMember = spaces?.some(({ id }) => id === spaceId) === true
  const { data: people } = useQuery({ ...peopleQuery(spaceId ?? ''), enabled: isMember })

  useEffect(() => followSpaces(queryClient, userId), [queryClient, userId])
  const spaceIds = spaces
    ?.map(({ id }) => id)
    .toSorted()
    .join(',')
  useEffect(
    () =>
      spaceIds === undefined
        ? undefined
        : followAnswers(queryClient, userId, spaceIds === '' ? [] : spaceIds.split(',')),
    [queryClient, userId, spaceIds],
  )
  useEffect(() => {
    if (spaces !== undefined) useKnownSpaces.setState({ spaces })
  }, [spaces])
  useEffect(() => {
    // The end of a membership may have been missed, and the space is about to be shown.
    if (spaceId !== null && queryClient.getQueryData(spacesQuery.queryKey) !== undefined)
      void refetch(queryClient, { queryKey: spacesQuery.queryKey })
  }, [queryClient, spaceId])
  useEffect(() => {
    if (queryClient.getQueryData(unreadKey) !== undefined) void refetch(queryClient, { queryKey: unreadKey })
  }, [queryClient, spaceId])
  useEffect(() => {
    if (people === undefined) return forgetAuthorNames()
    useAuthorNames.setState({
      names: Object.fromEntries(people.map(({ user_id: id, name }) => [id, name])),
      isRead: true,
    })
  }, [people])
  useEffect(() => {
    if (spaceId === null || isMember) storeLastSpace(userId, spaceId)
  }, [userId, spaceId, isMember])
  useOwnPresence(isMember ? spaceId : null, route.chatId)
  useReadMarks(route.chatId)
  useSpaceChanges(route, spaces, onLost)
  return null
}
