-- The name of the object store for rows and results of jobs, as the first host with one gave it.
ALTER TABLE domesday.service ADD COLUMN job_objects text;
