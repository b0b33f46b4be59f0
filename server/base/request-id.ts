import { AsyncLocalStorage } from 'node:async_hooks'

const requestIds = new AsyncLocalStorage<string>()

export const currentRequestId = (): string | undefined => requestIds.getStore()

export const runWithRequestId = <T>(id: string, run: () => T): T => requestIds.run(id, run)
