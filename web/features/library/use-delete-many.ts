import { useMutation, useQueryClient } from '@tanstack/react-query'
import { deleteDocument } from '#web/data/documents/document-mutations.ts'
import { toast } from '#web/ui/toast.tsx'

interface DeleteMany {
  readonly isBusy: boolean
  /** Resolves once each was tried; documents that could not be deleted stay in the list. */
  deleteAll: (ids: readonly string[]) => Promise<void>
}

export function useDeleteMany(): DeleteMany {
  const remove = useMutation(deleteDocument(useQueryClient()))
  const many = useMutation({
    async mutationFn(ids: readonly string[]) {
      let failed = 0
      for (const id of ids) {
        await remove.mutateAsync(id).catch((error: unknown) => {
          console.error(error)
          failed += 1
        })
      }
      return failed
    },
  })
  return {
    isBusy: many.isPending,
    async deleteAll(ids) {
      const failed = await many.mutateAsync(ids)
      if (failed === 0) {
        toast({
          title: 'Documents deleted',
          description: `${ids.length} ${ids.length === 1 ? 'document is' : 'documents are'} gone.`,
        })
      } else {
        toast({
          title: 'Error',
          description: `${failed} of ${ids.length} documents could not be deleted. Please try again.`,
          variant: 'destructive',
        })
      }
    },
  }
}
