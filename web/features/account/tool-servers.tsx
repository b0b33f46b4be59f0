import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import type { ToolServer } from '#contract/tool-server.ts'
import { disconnectToolServer, refreshToolServer, toolServersQuery } from '#web/data/tool-servers.ts'
import { Button } from '#web/ui/button.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import { toast } from '#web/ui/toast.tsx'
import { ConnectionRow } from './connection-row.tsx'
import { ErrorText, Section } from '#web/ui/section.tsx'
import { ToolServerForm } from './tool-server-form.tsx'
import styles from './connections.module.css'

const describe = ({ url, command, last_four, tools }: ToolServer): string =>
  [
    url ?? `Command ${command ?? ''}`,
    last_four === null ? null : `Token ends in ${last_four}`,
    tools.map(({ name }) => name).join(', '),
  ]
    .filter(Boolean)
    .join(' · ')

/** Tool (MCP) servers whose tools models may call, each call with the person's consent. */
export function ToolServers(): JSX.Element {
  const queryClient = useQueryClient()
  const { data, isError } = useQuery(toolServersQuery)
  const [adding, setAdding] = useState(false)
  const opener = useFocusAfterField(adding)
  const refresh = async (server: ToolServer): Promise<void> => {
    const { tools } = await refreshToolServer(queryClient, server)
    const count = tools.length === 1 ? 'one tool' : `${tools.length} tools`
    toast({ title: 'Tools refreshed', description: `${server.name} offers ${count}.` })
  }
  return (
    <Section title="Tool servers">
      <p className={styles.caption}>
        Models may call their tools (Model Context Protocol). You are asked before the first call in a conversation.
      </p>
      <ErrorText>{isError ? 'Your tool servers could not be read.' : null}</ErrorText>
      {data !== undefined && data.servers.length > 0 && (
        <ul className={styles.list}>
          {data.servers.map((server) => (
            <ConnectionRow
              key={server.id}
              name={server.name}
              warning={`Models can no longer call its tools${server.last_four === null ? '' : ', and its token is forgotten'}.`}
              onRefresh={() => refresh(server)}
              onRemove={() => disconnectToolServer(queryClient, server)}
            >
              {describe(server)}
            </ConnectionRow>
          ))}
        </ul>
      )}
      {adding ? (
        <ToolServerForm commands={data?.commands ?? []} onDone={() => setAdding(false)} />
      ) : (
        <Button ref={opener} variant="outline" size="sm" className={styles.start} onClick={() => setAdding(true)}>
          Add a tool server
        </Button>
      )}
    </Section>
  )
}
