import { QueryClient, type QueryFunctionContext } from '@tanstack/react-query'
import { apiFetch, HttpError } from './client.ts'

type Unauthorized = 'throw' | 'null'

function fetchByKey(onUnauthorized: Unauthorized) {
  return async ({ queryKey }: QueryFunctionContext): Promise<unknown> => {
    try {
      return await (await apiFetch(String(queryKey[0]))).json()
    } catch (error) {
      if (onUnauthorized === 'null' && error instanceof HttpError && error.status === 401) return null
      throw error
    }
  }
}

/** Data never becomes stale by itself: live changes cause the refetches. */
export function createQueryClient({ onUnauthorized = 'throw' }: { onUnauthorized?: Unauthorized } = {}): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        queryFn: fetchByKey(onUnauthorized),
        refetchInterval: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        staleTime: Number.POSITIVE_INFINITY,
        retry: false,
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}
