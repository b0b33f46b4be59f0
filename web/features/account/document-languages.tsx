import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { JSX } from 'react'
import { DOCUMENT_LANGUAGES, documentLanguage, type DocumentLanguage } from '#contract/document.ts'
import { chooseDocumentLanguages, documentLanguagesQuery } from '#web/data/document-languages.ts'
import { Select } from '#web/ui/select.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './account.module.css'

const NAMES: Record<DocumentLanguage, string> = {
  ara: 'Arabic',
  ces: 'Czech',
  chi_sim: 'Chinese, simplified',
  chi_tra: 'Chinese, traditional',
  dan: 'Danish',
  deu: 'German',
  ell: 'Greek',
  eng: 'English',
  fas: 'Persian',
  fin: 'Finnish',
  fra: 'French',
  heb: 'Hebrew',
  hin: 'Hindi',
  hun: 'Hungarian',
  ita: 'Italian',
  jpn: 'Japanese',
  kor: 'Korean',
  nld: 'Dutch',
  nor: 'Norwegian',
  pol: 'Polish',
  por: 'Portuguese',
  ron: 'Romanian',
  rus: 'Russian',
  spa: 'Spanish',
  swe: 'Swedish',
  tha: 'Thai',
  tur: 'Turkish',
  ukr: 'Ukrainian',
  vie: 'Vietnamese',
}
const BY_NAME = DOCUMENT_LANGUAGES.toSorted((one, other) => NAMES[one].localeCompare(NAMES[other], 'en'))

/** Which language scans and photographs are read in first. */
export function DocumentLanguages(): JSX.Element {
  const languages = useQuery(documentLanguagesQuery())
  const choose = useMutation(chooseDocumentLanguages(useQueryClient()))
  const chosen = choose.isPending ? choose.variables[0] : languages.data?.[0]
  const take = (value: string) =>
    choose.mutate(documentLanguage.array().parse(value === '' ? [] : [value]), {
      onError: (error) => {
        console.error(error)
        toast({ title: 'Error', description: 'The language could not be saved.', variant: 'destructive' })
      },
    })
  return (
    <label className={styles.row}>
      <span className={styles.option}>
        <span>Language of scans</span>
        <span className={styles.caption}>Tried first when text is recognised in pictures</span>
      </span>
      <Select
        size="sm"
        className={styles.select}
        value={chosen ?? ''}
        disabled={!languages.isSuccess}
        onChange={({ currentTarget }) => take(currentTarget.value)}
      >
        <option value="">Any</option>
        {BY_NAME.map((language) => (
          <option key={language} value={language}>
            {NAMES[language]}
          </option>
        ))}
      </Select>
    </label>
  )
}
