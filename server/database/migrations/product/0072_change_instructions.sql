-- Changes the instructions of a space only if they are still those that the caller has seen. False: another member has changed
-- them meanwhile.
create function change_instructions(space uuid, seen text, wanted text) returns boolean
  language plpgsql volatile set search_path = ''
as $$
begin
  -- Changes follow each other, so that the second compares with what the first has written.
  update public.spaces s set instructions = wanted where s.id = space and s.instructions = seen;
  if found then
    return true;
  end if;
  if space = any (public.spaces_to('edit')) then
    return false;
  end if;
  raise exception using errcode = '42501', message = 'Only owners and editors change the instructions, while the space is in use.';
end
$$;
revoke execute on function change_instructions(uuid, text, text) from public;
grant execute on function change_instructions(uuid, text, text) to authenticated;
