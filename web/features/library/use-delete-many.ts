import { useMutation, useQueryClient } from '@tanstack/react-query'
import { deleteDocuments } from '#web/data/documents/document-mutations.ts'
import { toast } from '#web/ui/toast.tsx'

interface DeleteMany {
  readonly isBusy: boolean
  /** Resolves once each was tried; documents that could not be deleted stay in the list. */
  deleteAll: (ids: readonly string[]) => Promise<void>
}

export function useDeleteMany(): DeleteMany {
  const many = useMutation(deleteDocuments(useQueryClient()))
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
