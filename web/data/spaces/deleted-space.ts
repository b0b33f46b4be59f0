/** The receipt of a space that the person has just deleted, until it is dismissed. */
import { create } from 'zustand'
import type { SpaceReceipt } from '#contract/space.ts'

export const useDeletedSpace = create<{ receipt: SpaceReceipt | null }>(() => ({ receipt: null }))

export const showDeletedSpace = (receipt: SpaceReceipt | null): void => useDeletedSpace.setState({ receipt })
