# Starts the provider in the Python module $module. The script of each plugin includes this file.
#
# It takes the Python that has pic's packages: the Python of the running pic, the virtual environment
# of the project, or the one on PATH. pic sets PIC_PYTHON; the engine sets the PULUMI variables. A
# relative virtual environment may start at the working directory or at the project, so the script
# tries both.
root=$(dirname "$0")/../..
if [ -n "$PIC_PYTHON" ]; then
    python=$PIC_PYTHON
elif [ -x "$PULUMI_RUNTIME_VIRTUALENV/bin/python" ]; then
    python=$PULUMI_RUNTIME_VIRTUALENV/bin/python
elif [ -x "$root/$PULUMI_RUNTIME_VIRTUALENV/bin/python" ]; then
    python=$root/$PULUMI_RUNTIME_VIRTUALENV/bin/python
else
    python=${PULUMI_PYTHON_CMD:-python3}
fi
PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH} exec "$python" -u -m "$module" "$@"
