/** The operation section, for the operator alone: the server answers everybody else as if it did not exist. */
import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import {
  installation,
  type OperatedModel,
  operatedPeople,
  type OperatedPerson,
  testMailAnswer,
  type TestMailAnswer,
} from '#contract/operation.ts'
import { allDailyUsage } from '#contract/usage.ts'
import { apiFetch, apiJson, apiSend, rest } from '#web/data/client.ts'
import { refetchModels } from '#web/data/models.ts'
import { refetch } from '#web/data/refetch.ts'

const INSTALLATION = '/api/operation'
const PEOPLE = '/api/operation/people'
const USAGE = '/api/operation/usage'

const operatorRows = z.array(z.object({ user_id: z.string() }))

export function isOperatorQuery(userId: string) {
  return queryOptions({
    queryKey: ['operators', userId],
    async queryFn() {
      const { data, error } = await rest().from('operators').select('user_id')
      if (error !== null) throw new Error(error.message, { cause: error })
      return operatorRows.parse(data).some(({ user_id: id }) => id === userId)
    },
  })
}

export const installationQuery = queryOptions({
  queryKey: [INSTALLATION],
  queryFn: () => apiJson(INSTALLATION, installation),
  staleTime: 0,
})

export const peopleQuery = (page: number) =>
  queryOptions({
    queryKey: [PEOPLE, page],
    queryFn: () => apiJson(`${PEOPLE}?page=${page}`, operatedPeople),
    staleTime: 0,
  })

export const allUsageQuery = queryOptions({
  queryKey: [USAGE],
  queryFn: () => apiJson(USAGE, allDailyUsage),
  staleTime: 0,
})

const reloadPeople = (queryClient: QueryClient) => refetch(queryClient, { queryKey: [PEOPLE] })

export async function inviteByMail(queryClient: QueryClient, email: string): Promise<void> {
  await apiSend('POST', PEOPLE, { email })
  await reloadPeople(queryClient)
}

export type PersonAction = 'disable' | 'enable' | 'reset-second-factor'

export async function changePerson(
  queryClient: QueryClient,
  { id }: OperatedPerson,
  action: PersonAction,
): Promise<void> {
  await apiFetch(`${PEOPLE}/${id}/${action}`, { method: 'POST' })
  await reloadPeople(queryClient)
}

/** Null returns to the default. */
export async function changeSetting(queryClient: QueryClient, name: string, value: string | null): Promise<void> {
  await apiSend('PUT', `${INSTALLATION}/settings/${name}`, { value })
  await Promise.all([
    refetch(queryClient, { queryKey: [INSTALLATION] }),
    refetch(queryClient, { queryKey: ['own_limits'] }),
    refetch(queryClient, { queryKey: ['own_usage'] }),
    refetchModels(queryClient),
  ])
}

/** Offers models to everybody, or withdraws them. */
export async function offerModels(
  queryClient: QueryClient,
  models: readonly OperatedModel[],
  isOffered: boolean,
): Promise<void> {
  await apiSend('PUT', `${INSTALLATION}/models`, { models: models.map(({ id }) => id), is_offered: isOffered })
  await Promise.all([refetch(queryClient, { queryKey: [INSTALLATION] }), refetchModels(queryClient)])
}

export const sendTestMail = (): Promise<TestMailAnswer> =>
  apiJson(`${INSTALLATION}/test-mail`, testMailAnswer, { method: 'POST' })
